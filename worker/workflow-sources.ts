import { fileURLToPath } from 'node:url';
import type { BundleOptions } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '#temporal/codec/payload-codec.ts';

const path = (file: string) => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));

/** Sources of the workflow bundle, also for tests. */
export const WORKFLOW_SOURCES = {
  workflowsPath: path('index.ts'),
  workflowInterceptorModules: [path('operator/refuse-unencrypted.ts'), path('hand-on-trace.ts')],
  failureConverterPath: FAILURE_CONVERTER_PATH,
} as const satisfies { [Name in keyof BundleOptions]: Readonly<BundleOptions[Name]> };
