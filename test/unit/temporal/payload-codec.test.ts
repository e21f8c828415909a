import { defaultPayloadConverter, METADATA_ENCODING_KEY, type Payload } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { refusalAmong } from '#domain/service/refused-payload.ts';
import {
  createDataConverter,
  EncryptionCodec,
  KEY_ID_METADATA,
  PayloadDecryptionError,
  PlainPayloadError,
  WorkerCodec,
} from '#temporal/codec/payload-codec.ts';

const key = (id: string, fill: number) => ({ id, key: Buffer.alloc(32, fill) });
const codecWith = (...keys: { id: string; key: Buffer }[]) => new EncryptionCodec(new KeyRing(keys));
const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('latin1');
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

async function encodeOne(codec: EncryptionCodec, payload: Payload): Promise<Payload> {
  const [encoded] = await codec.encode([payload]);
  if (encoded === undefined) throw new Error('nothing was encoded');
  return encoded;
}

/** The same payload with another last bit. */
function altered(payload: Payload): Payload {
  const data = Buffer.from(payload.data ?? []);
  data.writeUInt8(data.readUInt8(data.length - 1) ^ 1, data.length - 1);
  return { ...payload, data };
}

describe('the payload codec', () => {
  it('decodes every payload to its original, including metadata', async () => {
    const codec = codecWith(key('k1', 1));
    const metadataName = fc.string({ minLength: 1, maxLength: 20 }).filter((name) => name !== '__proto__');
    const payload = fc.record({
      metadata: fc.dictionary(metadataName, fc.uint8Array({ maxLength: 50 })),
      data: fc.uint8Array({ maxLength: 500 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(payload, { maxLength: 4 }), async (payloads) => {
        const decoded = await codec.decode(await codec.encode(payloads));
        const comparable = (list: Payload[]) =>
          list.map(({ metadata, data }) => ({
            data: text(data),
            metadata: new Map(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
          }));
        expect(comparable(decoded)).toEqual(comparable(payloads));
      }),
    );
  });

  it('leaves nothing readable, and marks the encoding and the key', async () => {
    const encoded = await encodeOne(codecWith(key('k2', 2), key('k1', 1)), plain({ imei: 'canary-imei' }));
    expect(text(encoded.metadata?.[METADATA_ENCODING_KEY])).toBe('binary/encrypted');
    expect(text(encoded.metadata?.[KEY_ID_METADATA])).toBe('k2');
    expect(text(encoded.data)).not.toContain('canary');
    expect(text(encoded.data)).not.toContain('json/plain');
  });

  it('reports the missing key with advice when it cannot decode', async () => {
    const encoded = await encodeOne(codecWith(key('gone', 1)), plain('lost'));
    const decoding = codecWith(key('new', 2)).decode([encoded]);
    await expect(decoding).rejects.toThrow(PayloadDecryptionError);
    await expect(decoding).rejects.toThrow(/key "gone" is not in ENCRYPTION_KEYS.*retention/s);
  });

  it('refuses an encrypted payload that was altered or emptied', async () => {
    const codec = codecWith(key('k1', 1));
    const encoded = await encodeOne(codec, plain('text'));
    await expect(codec.decode([altered(encoded)])).rejects.toThrow(PayloadDecryptionError);
    await expect(codec.decode([{ metadata: encoded.metadata ?? {} }])).rejects.toThrow(PayloadDecryptionError);
  });

  it('passes plain payloads through when decoding, and accepts empty lists', async () => {
    const codec = codecWith(key('k1', 1));
    expect(await codec.decode([plain('typed by hand'), {}])).toEqual([plain('typed by hand'), {}]);
    expect(await codec.encode([])).toEqual([]);
    expect(await codec.decode([])).toEqual([]);
  });
});

describe('the codec of workers', () => {
  const ofWorkflow = { type: 'workflow', namespace: 'n', workflowId: 'order/ord_1' } as const;
  const ofActivity = { type: 'activity', namespace: 'n', isLocal: false } as const;
  const worker = new WorkerCodec(new KeyRing([key('k1', 1)]));
  const refusals = async (payloads: Payload[]) =>
    (await worker.decode(payloads, ofWorkflow)).map((payload) =>
      refusalAmong([defaultPayloadConverter.fromPayload(payload)]),
    );

  it('passes encrypted payloads to a workflow, and replaces others by a mark without their content', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const forged = plain(JSON.parse(json));
        const [mark, genuine] = await worker.decode([forged, await encodeOne(worker, forged)], ofWorkflow);
        expect(refusalAmong([defaultPayloadConverter.fromPayload(mark ?? {})])).toBe('not_encrypted');
        expect(text(genuine?.data)).toBe(text(forged.data));
      }),
    );
    expect(await refusals([{}])).toEqual(['not_encrypted']);
  });

  it('marks altered payloads, but fails when the key is missing', async () => {
    const encoded = await encodeOne(worker, plain('text'));
    const junk = { ...encoded, data: Buffer.from('junk') };
    expect(await refusals([altered(encoded), junk])).toEqual(['altered', 'altered']);
    const later = await encodeOne(codecWith(key('later', 9)), plain('text'));
    await expect(worker.decode([later], ofWorkflow)).rejects.toThrow(PayloadDecryptionError);
  });

  it('refuses a plain result of an activity', async () => {
    await expect(worker.decode([plain('bought')], ofActivity)).rejects.toThrow(PlainPayloadError);
    await expect(worker.decode([plain('bought')])).rejects.toThrow(PlainPayloadError);
    const [genuine] = await worker.decode([await encodeOne(worker, plain('bought'))], ofActivity);
    expect(text(genuine?.data)).toBe('"bought"');
  });
});

describe('the data converter', () => {
  it('is loaded by path, like in client and worker, and hides message and stack of failures', () => {
    const { failureConverter, payloadConverter } = loadDataConverter(createDataConverter(new KeyRing([key('k1', 1)])));
    const failure = failureConverter.errorToFailure(new Error('canary-message'), payloadConverter);
    expect(failure.message).not.toContain('canary');
    expect(failure.stackTrace ?? '').toBe('');
    expect(text(failure.encodedAttributes?.data)).toContain('canary-message');
    expect(failureConverter.failureToError(failure, payloadConverter).message).toBe('canary-message');
  });
});
