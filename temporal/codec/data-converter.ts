import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from '#crypto/key-ring.ts';
import { EncryptionCodec, WorkerCodec } from '#temporal/codec/payload-codec.ts';

/** Needed by `bundleWorkflowCode` too, where the bundle is built ahead of the worker. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('failure-converter.ts', import.meta.url));

/**
 * The data converter of every client; workers write and read the same ({@link createWorkerDataConverter}). The codec
 * runs in the main thread only, so no key ever enters the workflow sandbox.
 */
export function createDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new EncryptionCodec(keyRing)] };
}

/** The data converter of workers: what is not encrypted does not reach a workflow ({@link WorkerCodec}). */
export function createWorkerDataConverter(keyRing: KeyRing): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new WorkerCodec(keyRing)] };
}
