import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
// CommonJS without named exports that Node could see: `import { temporal }` works in tests and fails in the process.
import proto from '@temporalio/proto';
import { UnsealError, type KeyRing } from '#crypto/key-ring.ts';

/** Value of a payload's `encoding` that says it is encrypted; the usual one, which the Temporal UI knows. */
export const ENCRYPTED_ENCODING = 'binary/encrypted';

/** Names the key, so that one sees in the UI and the CLI which keys are still in use. What counts is the sealed data. */
export const KEY_ID_METADATA = 'encryption-key-id';

/**
 * Where a sealed payload belongs. The same for all: the codec server, which decodes for the UI, is not told which
 * workflow a payload comes from.
 */
const PLACE = 'temporal.payload';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** A payload that this process has no key for, or that was altered. */
export class PayloadDecryptionError extends Error {
  constructor(cause: UnsealError) {
    super(
      `A Temporal payload could not be decrypted: ${cause.message}. ` +
        'A key stays in ENCRYPTION_KEYS until every workflow that used it has left the retention of the namespace.',
      { cause },
    );
    this.name = 'PayloadDecryptionError';
  }
}

/**
 * Encrypts every payload with AES-256-GCM: arguments, results, signals, updates, queries, memos, summaries, heartbeats
 * and, with `failure-converter.ts`, messages of failures. Not search attributes: the server must read those.
 *
 * Decoding lets pass what is not encrypted, so that a person can signal a workflow from the CLI or the UI without a
 * codec. Nothing of ours trusts a payload because it could be decrypted: who may write to the namespace is up to
 * Temporal's own access control.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keyRing: KeyRing;

  constructor(keyRing: KeyRing) {
    this.#keyRing = keyRing;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload));
  }

  /** @throws PayloadDecryptionError */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.#decrypt(payload) : payload));
  }

  #encrypt(payload: Payload): Payload {
    return {
      metadata: {
        [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED_ENCODING),
        [KEY_ID_METADATA]: Buffer.from(this.#keyRing.primaryKeyId),
      },
      data: this.#keyRing.seal(PayloadMessage.encode(payload).finish(), PLACE),
    };
  }

  #decrypt(payload: Payload): Payload {
    try {
      return PayloadMessage.decode(this.#keyRing.open(payload.data ?? new Uint8Array(), PLACE));
    } catch (error) {
      throw error instanceof UnsealError ? new PayloadDecryptionError(error) : error;
    }
  }
}

function isEncrypted(payload: Payload): boolean {
  const encoding = payload.metadata?.[METADATA_ENCODING_KEY];
  return encoding !== undefined && encoding !== null && Buffer.from(encoding).toString('utf8') === ENCRYPTED_ENCODING;
}
