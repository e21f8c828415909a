import type { ConnectionLike } from '@temporalio/client';
import type { temporal as protocol } from '@temporalio/proto';
import type { DeploymentVersion } from '#config/config.ts';
import { GRPC_STATUS, grpcStatus } from '#temporal/connection.ts';
import { TASK_QUEUE } from '#workflows/messages.ts';

/** No current version: to workers without a version. */
export interface Routing {
  readonly current: DeploymentVersion | undefined;
  readonly ramping: DeploymentVersion | undefined;
}

/** @throws ServiceError of Temporal's client. */
export async function readRouting({ workflowService }: Pick<ConnectionLike, 'workflowService'>, namespace: string) {
  const { versioningInfo } = await workflowService.describeTaskQueue({
    namespace,
    // Without a type: that of workflow tasks.
    taskQueue: { name: TASK_QUEUE },
  });
  return {
    current: versionOf(versioningInfo?.currentDeploymentVersion),
    ramping: versionOf(versioningInfo?.rampingDeploymentVersion),
  };
}

function versionOf(
  found: protocol.api.deployment.v1.IWorkerDeploymentVersion | null | undefined,
): DeploymentVersion | undefined {
  if (found?.deploymentName == null || found.buildId == null || found.buildId === '') return undefined;
  return { deploymentName: found.deploymentName, buildId: found.buildId };
}

/**
 * `all`: neither workers nor routing have a version. `current`: new runs and their own; `ramping`: a share of new runs.
 * `own_runs`: another version is current. `other_deployment`: as `own_runs`, and one of the two names is wrong.
 * `no_current`: nothing; workers without a version get the work. `none`: a version is current, and they have none.
 */
export type WorkShare = 'all' | 'current' | 'ramping' | 'own_runs' | 'other_deployment' | 'no_current' | 'none';

/** @param own undefined: the workers have no version. */
export function workShare({ current, ramping }: Routing, own: DeploymentVersion | undefined): WorkShare {
  if (own === undefined) return current === undefined ? 'all' : 'none';
  if (isSame(current, own)) return 'current';
  if (isSame(ramping, own)) return 'ramping';
  if (current === undefined) return 'no_current';
  return current.deploymentName === own.deploymentName ? 'own_runs' : 'other_deployment';
}

function isSame(one: DeploymentVersion | undefined, other: DeploymentVersion): boolean {
  return one?.deploymentName === other.deploymentName && one.buildId === other.buildId;
}

/** Undefined when workers get what they should. */
export function idleProblem(routing: Routing, own: DeploymentVersion | undefined) {
  const share = workShare(routing, own);
  const { current } = routing;
  if (share === 'none' && current !== undefined) {
    return {
      detail: `workers without a version get no work, because ${nameOf(current)} is current`,
      advice:
        'Set WORKER_DEPLOYMENT_NAME and WORKER_BUILD_ID, or send all work to workers without a version: ' +
        `npx reseller deployment set-current --unversioned --name ${current.deploymentName}`,
    };
  }
  if (own === undefined) return undefined;
  const command = `npx reseller deployment set-current ${own.buildId} --name ${own.deploymentName}`;
  const advice = `Make a version current: ${command}`;
  if (share === 'no_current') {
    const detail = `no version of ${own.deploymentName} is current, so only workers without a version get work`;
    return { detail, advice };
  }
  if (share !== 'other_deployment' || current === undefined) return undefined;
  return {
    detail: `the current version is ${nameOf(current)}, of another deployment than ${nameOf(own)}`,
    advice: `Set WORKER_DEPLOYMENT_NAME to ${current.deploymentName}. If the new name is right: ${command}`,
  };
}

/** `name:build`, as Temporal writes it. */
export function nameOf({ deploymentName, buildId }: DeploymentVersion): string {
  return `${deploymentName}:${buildId}`;
}

const STATUSES = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'inactive'] as const;

const NO_VERSION = '(none)';

export interface ListedVersion {
  readonly build_id: string;
  /** `draining`: runs are pinned to it. `drained`: none is. Temporal counts now and then. */
  readonly status: (typeof STATUSES)[number] | 'unversioned';
  readonly percentage: number | null;
  readonly pinned_runs: number;
  readonly runs: number;
}

/** Each method throws a ServiceError of Temporal's client, such as NOT_FOUND before a worker has connected. */
export class WorkerDeployment {
  readonly #service: ConnectionLike['workflowService'];
  readonly #deployment: { readonly namespace: string; readonly deploymentName: string };
  readonly #identity: string;

  constructor(options: {
    readonly connection: Pick<ConnectionLike, 'workflowService'>;
    readonly namespace: string;
    readonly deploymentName: string;
    readonly identity: string;
  }) {
    this.#service = options.connection.workflowService;
    this.#deployment = { namespace: options.namespace, deploymentName: options.deploymentName };
    this.#identity = options.identity;
  }

  get name(): string {
    return this.#deployment.deploymentName;
  }

  /** Newest first, with the runs of workers without a version. None before a worker of the deployment has connected. */
  async versions(): Promise<ListedVersion[]> {
    const found = await this.#describe();
    const percentage = found?.routingConfig?.rampingVersionPercentage ?? null;
    const listed = (found?.versionSummaries ?? []).map(async ({ deploymentVersion, status: number }) => {
      const buildId = deploymentVersion?.buildId ?? '';
      const status = STATUSES[number ?? 0] ?? 'unknown';
      const running =
        "ExecutionStatus = 'Running' AND " +
        `TemporalWorkerDeploymentVersion = '${nameOf({ ...this.#deployment, buildId })}'`;
      return {
        build_id: buildId,
        status,
        percentage: status === 'ramping' ? percentage : null,
        pinned_runs: await this.#count(`${running} AND TemporalWorkflowVersioningBehavior = 'Pinned'`),
        runs: await this.#count(running),
      };
    });
    const versions = await Promise.all(listed);
    const runs = await this.#count("ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion IS NULL");
    if (found === undefined || runs === 0) return versions;
    return [...versions, { build_id: NO_VERSION, status: 'unversioned', percentage: null, pinned_runs: 0, runs }];
  }

  /** Refused while its workers poll fewer task queues than the current ones. @param buildId undefined: unversioned. */
  async setCurrent(buildId: string | undefined): Promise<void> {
    const change = { ...this.#deployment, identity: this.#identity, buildId: buildId ?? '' };
    await this.#service.setWorkerDeploymentCurrentVersion(change);
  }

  /** @param percentage 0 ends the share. */
  async setRamping(buildId: string, percentage: number): Promise<void> {
    const share = { buildId: percentage === 0 ? '' : buildId, percentage };
    const change = { ...this.#deployment, identity: this.#identity, ...share };
    await this.#service.setWorkerDeploymentRampingVersion(change);
  }

  /** Refused unless it is drained and has no workers. */
  async delete(buildId: string): Promise<void> {
    const { namespace, deploymentName } = this.#deployment;
    const deploymentVersion = { deploymentName, buildId };
    await this.#service.deleteWorkerDeploymentVersion({ namespace, deploymentVersion, identity: this.#identity });
  }

  async #describe() {
    try {
      return (await this.#service.describeWorkerDeployment(this.#deployment)).workerDeploymentInfo;
    } catch (error) {
      if (grpcStatus(error) === GRPC_STATUS.notFound) return undefined;
      throw error;
    }
  }

  async #count(query: string): Promise<number> {
    const { namespace } = this.#deployment;
    return Number((await this.#service.countWorkflowExecutions({ namespace, query })).count);
  }
}
