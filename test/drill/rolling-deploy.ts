import type { Machine } from '#test/drill/machine.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { bundleReorderedOrder } from '#test/support/work/workflows/reordered-bundle.ts';
import { WorkerFleet } from '#test/support/work/workflows/worker-fleet.ts';

/** Build ids of the version that runs, and of the one that is deployed. */
const OLD = 'a';
const NEW = 'b';

/** As docs/how-to/deploy-a-changed-workflow.md describes it. The new order workflow cannot continue the old runs. */
export async function prepareDeploy(stack: Stack) {
  const newWorkflows = await bundleReorderedOrder();
  const operator = await TemporalOperator.connect(stack);
  const fleet = new WorkerFleet(stack, operator);
  return {
    startOldWorker: () => fleet.start(OLD),
    /** Sends new work to the old version. Its workers must have started. */
    begin: () => fleet.setCurrent(OLD),
    /** Starts workers of the new version, replaces one API after the other, and sends new work to the new version. */
    deploy: async (machines: readonly Machine[]) => {
      await Promise.all(machines.map(() => fleet.start(NEW, newWorkflows)));
      for (const machine of machines) await machine.replaceApi();
      await fleet.setCurrent(NEW);
    },
    /** Moves orders that are pinned to the old version, such as those that wait for a person; stops its workers. */
    removeOld: async (machines: readonly Machine[]) => {
      await fleet.moveOrders(OLD);
      await Promise.all(machines.map(({ worker }) => worker.stop()));
    },
    [Symbol.asyncDispose]: async () => {
      await fleet[Symbol.asyncDispose]();
      await operator[Symbol.asyncDispose]();
    },
  };
}
