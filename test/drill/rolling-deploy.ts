import type { Machine } from '#test/drill/machine.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { bundleReorderedOrder } from '#test/support/work/workflows/reordered-bundle.ts';
import { WorkerFleet } from '#test/support/work/workflows/worker-fleet.ts';

/** Build ids of the version that runs, and of the one that is deployed. */
const OLD = 'a';
const NEW = 'b';

/**
 * A rolling deploy, as docs/how-to/deploy-a-changed-workflow.md describes it. The order workflow of the new version
 * cannot continue the runs of the old one.
 */
export class RollingDeploy implements AsyncDisposable {
  readonly #operator: TemporalOperator;
  readonly #fleet: WorkerFleet;
  readonly #newWorkflows: string;

  private constructor(operator: TemporalOperator, fleet: WorkerFleet, newWorkflows: string) {
    this.#operator = operator;
    this.#fleet = fleet;
    this.#newWorkflows = newWorkflows;
  }

  static async prepare(stack: Stack): Promise<RollingDeploy> {
    const newWorkflows = await bundleReorderedOrder();
    const operator = await TemporalOperator.connect(stack);
    return new RollingDeploy(operator, new WorkerFleet(stack, operator), newWorkflows);
  }

  /** Starts a worker of the old version. */
  readonly startOldWorker = () => this.#fleet.start(OLD);

  /** Sends new work to the old version. Its workers must have started. */
  async begin(): Promise<void> {
    await this.#fleet.setCurrent(OLD);
  }

  /** Starts workers of the new version, replaces one API after the other, and sends new work to the new version. */
  async deploy(machines: readonly Machine[]): Promise<void> {
    await Promise.all(machines.map(() => this.#fleet.start(NEW, this.#newWorkflows)));
    for (const machine of machines) await machine.replaceApi();
    await this.#fleet.setCurrent(NEW);
  }

  /** Moves orders that are pinned to the old version, such as those that wait for a person; stops its workers. */
  async removeOld(machines: readonly Machine[]): Promise<void> {
    await this.#fleet.moveOrders(OLD);
    await Promise.all(machines.map(({ worker }) => worker.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fleet[Symbol.asyncDispose]();
    await this.#operator[Symbol.asyncDispose]();
  }
}
