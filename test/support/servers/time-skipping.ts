import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';
import { waitFor } from '#test/support/wait-for.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/**
 * Starts a Temporal server in which waits take no time, with our search attributes. Start one for each test file and
 * call `teardown()` at its end. All its workflows share one time.
 */
export async function createTimeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  // The SDK waits five seconds for the server, which is not always enough on a busy machine.
  const environment = await waitFor('the time-skipping server starts', () =>
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('testServer') } },
    }),
  );
  // Without search attributes workflow tasks fail and are retried for ever, without a message.
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.namespace ?? 'default',
    searchAttributes: Object.fromEntries(
      Object.values(SEARCH_ATTRIBUTES).flatMap(({ name, type }) => {
        const encoded = encodeSearchAttributeIndexedValueType(type);
        return encoded === undefined ? [] : [[name, encoded] as const];
      }),
    ),
  });
  return environment;
}
