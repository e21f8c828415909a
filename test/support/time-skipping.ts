import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/** The SDK gives the server five seconds to answer, which is not always enough for a busy machine. */
const TRIES = 5;

async function startServer(): Promise<TestWorkflowEnvironment> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path: inject('testServer') } } });
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/**
 * A Temporal server in which waiting takes no time, with our search attributes. Start one per test file and call
 * `teardown()` at its end; time in it is one for all its workflows.
 */
export async function createTimeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const environment = await startServer();
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
