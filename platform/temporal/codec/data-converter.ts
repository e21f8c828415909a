import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from '#crypto/key-ring.ts';
import { EncryptionCodec, WorkerCodec } from '#temporal/codec/payload-codec.ts';

/** `bundleWorkflowCode` also needs it when the bundle is built before the worker starts. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('failure-converter.ts', import.meta.url));

/**
 * The data converter of clients. Workers use {@link createWorkerDataConverter}, with the same format. The codec runs in
 * the main thread only, so no key enters the workflow sandbox.
 */
export function createDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new EncryptionCodec(keyRing)] };
}

/** The data converter of workers, which refuses plain payloads ({@link WorkerCodec}). */
export function createWorkerDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new WorkerCodec(keyRing)] };
}
