// The package is CommonJS and Node sees no named exports: `import { temporal }` works in tests and fails in a process.
import { fileURLToPath } from 'node:url';
import {
  type DataConverter,
  defaultPayloadConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { DecryptionError, type KeyRing, MissingKeyError } from '#crypto/key-ring.ts';
import { type PayloadRefusal, refusedPayload } from '#domain/service/refused-payload.ts';

/** The value that the Temporal UI knows. */
const ENCRYPTED_ENCODING = 'binary/encrypted';

/** Shown to operators. Decryption uses the id inside the encrypted data. */
export const KEY_ID_METADATA = 'encryption-key-id';

/** The AAD lacks the workflow: the codec server does not know where a payload comes from. */
const AAD = 'temporal.payload';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Only workers write such a payload. */
export class PlainPayloadError extends Error {
  constructor() {
    super('A Temporal payload that only workers write is not encrypted, so another writer has written it.');
    this.name = 'PlainPayloadError';
  }
}

export class PayloadDecryptionError extends Error {
  constructor(cause: DecryptionError) {
    super(
      `A Temporal payload could not be decrypted: ${cause.message}. ` +
        'A key stays in ENCRYPTION_KEYS until every workflow that used it has left the retention of the namespace.',
      { cause },
    );
    this.name = 'PayloadDecryptionError';
  }
}

/**
 * AES-256-GCM for every payload and, with `failure-converter.ts`, messages of failures. Not search attributes: the
 * server must read those. Decoding passes plain payloads through; workers use {@link WorkerCodec}, which refuses them.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keyRing: KeyRing;

  constructor(keyRing: KeyRing) {
    this.#keyRing = keyRing;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => ({
      metadata: {
        [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED_ENCODING),
        [KEY_ID_METADATA]: Buffer.from(this.#keyRing.primaryKeyId),
      },
      data: this.#keyRing.encrypt(PayloadMessage.encode(payload).finish(), AAD),
    }));
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.decrypt(payload) : payload));
  }

  protected decrypt(payload: Payload): Payload {
    try {
      return PayloadMessage.decode(this.#keyRing.decrypt(payload.data ?? new Uint8Array(), AAD));
    } catch (error) {
      throw error instanceof DecryptionError ? new PayloadDecryptionError(error) : error;
    }
  }
}

function isEncrypted(payload: Payload): boolean {
  const encoding = payload.metadata?.[METADATA_ENCODING_KEY];
  return encoding !== undefined && encoding !== null && Buffer.from(encoding).toString('utf8') === ENCRYPTED_ENCODING;
}

/**
 * Any client of the Temporal server can write plain payloads; encrypted ones need a key. A plain or altered payload of
 * a workflow is replaced by a mark, which `workflows/interceptors.ts` refuses: an error would fail the
 * workflow task for as long as the signal is in the history. A missing key stays an error: two workers with different
 * keys would replay one history differently. Only workers write results of activities, so a plain one is an error.
 */
export class WorkerCodec extends EncryptionCodec {
  /** @throws PayloadDecryptionError, PlainPayloadError */
  override async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (context?.type === 'workflow') return this.#decodeForWorkflow(payload);
      if (!isEncrypted(payload)) throw new PlainPayloadError();
      return this.decrypt(payload);
    });
  }

  #decodeForWorkflow(payload: Payload): Payload {
    if (!isEncrypted(payload)) return marked('not_encrypted');
    try {
      return this.decrypt(payload);
    } catch (error) {
      if (error instanceof PayloadDecryptionError && !(error.cause instanceof MissingKeyError))
        return marked('altered');
      throw error;
    }
  }
}

function marked(refusal: PayloadRefusal): Payload {
  return defaultPayloadConverter.toPayload(refusedPayload(refusal));
}

/** `bundleWorkflowCode` needs it, too. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('failure-converter.ts', import.meta.url));

/** For clients. The codec runs in the main thread only, so no key enters the workflow sandbox. */
export function createDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new EncryptionCodec(keyRing)] };
}

/** It refuses plain payloads ({@link WorkerCodec}). */
export function createWorkerDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new WorkerCodec(keyRing)] };
}
