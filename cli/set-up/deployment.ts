import { account } from '#cli/set-up/command-database.ts';
import { type Columns, status, text } from '#cli/terminal/columns.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { type FormatOptions, printItems } from '#cli/terminal/print-items.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { connect, GRPC_STATUS, grpcStatus } from '#temporal/connection.ts';
import { type ListedVersion, WorkerDeployment } from '#temporal/worker-versions.ts';

export interface DeploymentOptions {
  readonly name?: string;
}

const COLUMNS: Columns<ListedVersion> = {
  build_id: text((version) => version.build_id),
  status: status((version) => version.status),
  percentage: text((version) => version.percentage),
  pinned_runs: text((version) => version.pinned_runs),
  runs: text((version) => version.runs),
};

export async function showDeployment(
  options: DeploymentOptions & FormatOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  await withDeployment(options, environment, async (deployment) => {
    const none = `No worker of the deployment ${JSON.stringify(deployment.name)} has connected to Temporal yet.`;
    printItems(options, COLUMNS, await deployment.versions(), { output, environment, none });
  });
}

export async function setCurrent(
  build: string | undefined,
  options: DeploymentOptions & { readonly unversioned?: boolean },
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  if (build !== undefined && options.unversioned === true)
    throw new UserError(`Both ${build} and --unversioned are given.`, 'Use one of them.');
  await withDeployment(options, environment, async (deployment, own) => {
    if (options.unversioned === true) {
      await deployment.setCurrent(undefined);
      printLine(output, 'New work goes to workers without a version.');
      return;
    }
    const version = build ?? own;
    if (version === undefined) throw new UserError('No version is named.', 'Name it, or set WORKER_BUILD_ID.');
    await deployment.setCurrent(version);
    printLine(output, `New work goes to ${version}.`);
  });
}

export async function setRamping(
  build: string,
  percentage: number,
  options: DeploymentOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  await withDeployment(options, environment, async (deployment) => {
    await deployment.setRamping(build, percentage);
    printLine(output, percentage === 0 ? 'No version is ramping.' : `${percentage} % of new work goes to ${build}.`);
  });
}

export async function deleteVersion(
  build: string,
  options: DeploymentOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  await withDeployment(options, environment, async (deployment) => {
    await deployment.delete(build);
    printLine(output, `${build} is deleted.`);
  });
}

async function withDeployment(
  { name }: DeploymentOptions,
  environment: Environment,
  work: (deployment: WorkerDeployment, ownBuild: string | undefined) => Promise<void>,
): Promise<void> {
  const { temporal, deployment: own } = readParts(['temporal', 'deployment'], environment);
  const deploymentName = name ?? own?.deploymentName;
  if (deploymentName === undefined)
    throw new UserError('No worker deployment is named.', 'Use --name, or set WORKER_DEPLOYMENT_NAME.');
  const connection = await connect(temporal);
  try {
    const { namespace } = temporal;
    const deployment = new WorkerDeployment({ connection, namespace, deploymentName, identity: account() });
    await work(deployment, own?.buildId);
  } catch (error) {
    const advice = ADVICE[grpcStatus(error) ?? -1];
    if (advice === undefined) throw error;
    throw new UserError(`Temporal refuses it: ${messageOf(error)}`, advice, { cause: error });
  } finally {
    await connection.close();
  }
}

const ADVICE: Readonly<Record<number, string>> = {
  [GRPC_STATUS.notFound]: 'A version exists once a worker of it has connected: `npx reseller deployment show`.',
  [GRPC_STATUS.failedPrecondition]:
    'A version becomes current when its workers poll every task queue of the present one, and is deleted when it is ' +
    'drained and its workers have been stopped for five minutes.',
  [GRPC_STATUS.invalidArgument]: 'See `npx reseller deployment show`.',
  [GRPC_STATUS.permissionDenied]: 'Check TEMPORAL_API_KEY, and that it may change the namespace.',
};
