import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';
import { waitFor } from '#test/support/wait-for.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/**
 * A Temporal server in which waiting takes no time, with our search attributes. Start one per test file and call
 * `teardown()` at its end; time in it is one for all its workflows.
 */
export async function createTimeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  // The SDK gives the server five seconds to answer, which is not always enough for a busy machine.
  const environment = await waitFor('the time-skipping server starts', () =>
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('testServer') } },
    }),
  );
  // Without them workflow tasks fail and are tried again for ever, with nothing said.
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
