import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';
import { sendSignal } from '#cli/embedded/child.ts';
import { atEnd } from '#test/support/at-end.ts';
import { descendantsOf } from '#test/support/servers/process-tree.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

let running: Promise<TestWorkflowEnvironment> | undefined;

/**
 * A Temporal server in which waits take no time. All files that a process of the test runner executes share one server
 * and its time; it ends with the process. A test ends its workflows, and each has a task queue of its own.
 */
export function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  return (running ??= start());
}

async function start(): Promise<TestWorkflowEnvironment> {
  const others = new Set(descendantsOf(process.pid));
  // The SDK waits five seconds for the server, which is not always enough on a busy machine.
  const environment = await waitFor('the time-skipping server starts', () =>
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('testServer') } },
    }),
  );
  // The SDK does not tell the process id.
  const server = descendantsOf(process.pid).filter((pid) => !others.has(pid));
  atEnd(() => server.forEach((pid) => sendSignal(pid, 'SIGKILL')));
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
