/** Runs one plan on its own stack, from the first request to the audit. */
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SHAPES } from '#simulator/shapes/shape.ts';
import { auditEvents, listenToEvents } from '#test/crash/audit/audit-events.ts';
import { auditTemporal, hasEnded } from '#test/crash/audit/audit-temporal.ts';
import { audit, type WorkResult } from '#test/crash/audit/audit.ts';
import { ownServersFor } from '#test/crash/plans/disturbances.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { clocksApart, plannedFaults } from '#test/crash/plans/planned-faults.ts';
import { startLoadBalancer } from '#test/crash/run/balancer.ts';
import { requestAll, requestLost } from '#test/crash/run/callers.ts';
import { ABOUT_A_SECOND_MS, Disturber, stopsOfSetBacks, type SetBack } from '#test/crash/run/disturb.ts';
import { Fleet } from '#test/crash/run/fleet.ts';
import { networkOf } from '#test/crash/run/network.ts';
import { readPoison } from '#test/crash/run/poison.ts';
import { armService, prepareDatabase } from '#test/crash/run/prepare.ts';
import type { Thing } from '#test/crash/run/work.ts';
import type { Sabotage } from '#test/crash/saboteur.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { startOwnPostgres, startOwnTemporal } from '#test/support/servers/own-servers.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export interface SeedReport {
  readonly plan: CrashPlan;
  readonly durationMs: number;
  readonly results: readonly WorkResult[];
  readonly fired: readonly string[];
  readonly unfired: readonly string[];
  readonly setBacks: readonly SetBack[];
  readonly longestHistory: number;
  readonly violations: readonly string[];
  /** File with the logs of a seed with violations. */
  readonly logs?: string;
}

/**
 * Policy in addition to the shortened waits of all tests. Work that a quarantined report blocks opens a case `stalled`
 * after 20 seconds.
 */
const POLICY = {
  'retry.max_attempts': 2,
  'purchase.silent_deadline': '15s',
  'vpn_subscription.cancel_check': '3s',
  'purchase.stalled_after': '20s',
  // What a service never fills becomes a case: some dialects give access data in one event only.
  'purchase.delivery_deadline': '30s',
  // Without a proof, a failed purchase becomes a case.
  'purchase.evidence_deadline': '20s',
  // At one second, the two schedules would use a fifth of a core in each seed.
  'reconciler.every': '2s',
  'sweeper.every': '2s',
};

export interface RunOptions {
  readonly servers: SharedServers;
  readonly sabotage?: Sabotage | undefined;
  /** How long to wait at the end until no work is in progress. */
  readonly quietMs?: number;
  /** True: Temporal is the server for PostgreSQL, one for each seed, with its databases in the shared PostgreSQL. */
  readonly cluster?: boolean;
  /** True: timeline, reports and audit log of ended work are deleted during the run. */
  readonly forgets?: boolean;
}

/** So short that rows are deleted while the seed runs, but not before a copy of a webhook is refused for its time. */
const SHORT_HISTORY = { 'sweeper.history_kept': '6s', 'service_webhooks.timestamp_tolerance': '3s' };

export async function runPlan(
  plan: CrashPlan,
  { servers, sabotage, quietMs, cluster = false, forgets = false }: RunOptions,
): Promise<SeedReport> {
  const began = performance.now();
  const folder = temporaryFolder('crash');
  // A server that stops, freezes or loses commits must not be shared with other seeds.
  const needs = ownServersFor(plan.disturbances);
  const losesCommits = needs.losesCommits ? { losesCommitsOf: ABOUT_A_SECOND_MS } : {};
  await using postgres = needs.postgres ? await startOwnPostgres(losesCommits) : undefined;
  await using temporal = cluster
    ? await startOwnCluster({ postgresUrl: servers.postgresUrl })
    : needs.temporal
      ? await startOwnTemporal()
      : undefined;
  await using stack = await startStack({
    servers,
    ...(postgres !== undefined && { postgres }),
    ...(temporal !== undefined && { temporal }),
    start: [],
    environment: {
      ...POLICY,
      ...(forgets && SHORT_HISTORY),
      ...plan.setting.policy,
      SERVICE_MISSING_CAPABILITIES: plan.setting.without.join(','),
      SERVICE_HEADER_PREFIX: SHAPES[plan.setting.shape].header_prefix,
    },
    simulator: {
      SIMULATOR_PROCESSING_DELAY: '400ms',
      SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms',
      SIMULATOR_SEED: `crash-${plan.seed}`,
      ...(plan.moneyAfterWork !== undefined && { SIMULATOR_SANDBOX_BALANCE: '0.00' }),
    },
  });
  await prepareDatabase(stack, plan, sabotage);
  await using receiver = await WebhookReceiver.start();
  await listenToEvents(stack, receiver);
  await using network = await networkOf(stack, plan);
  const { cutter, proxies } = network;
  const disturber = new Disturber(plan);
  await using fleet = await Fleet.prepare({
    stack,
    plan: { ...plan, stopsAt: [...plan.stopsAt, ...stopsOfSetBacks(plan.disturbances)] },
    folder,
    environment: network.environment,
    onStopped: (point) => disturber.onStopped(point),
    ...(sabotage?.scripts !== undefined && { scripts: sabotage.scripts }),
  });
  await using balancer = await startLoadBalancer(Number(stack.environments.api['API_PORT']), fleet.apiPorts);

  const admin = new SimulatorAdmin(stack.simulator);
  await stack.start('simulator');
  await armService(admin, plan);
  await fleet.start();
  // A later set-back must not lose the preparation of the seed.
  await postgres?.makeDurable();
  const refused: string[] = [];
  const hasWorkflowEnded = () => hasEnded(stack);
  const own = { postgres, temporal };
  disturber.begin({ fleet, balancer, proxies, own, databaseUrl: stack.databaseUrl, hasWorkflowEnded });
  const accepted = await requestAll(stack, plan, { admin, disturber, refused });
  const { fired: disturbed, setBacks } = await disturber.result();
  if (setBacks.length === 0) refused.push(...withoutWork(accepted));
  const things = setBacks.length === 0 ? accepted : await requestLost(stack, accepted, refused);
  const poisoned = await readPoison(stack.databaseUrl);
  const { violations, results } = await audit(stack, plan.setting, things, { quietMs, setBacks, forgets, poisoned });
  const undelivered = await auditEvents(stack, receiver);
  const { violations: silent, longestHistory } = await auditTemporal(stack, poisoned);

  const ends = fleet.stop();
  // Stops for a set-back are not counted as separate faults.
  const stops = fleet.fired.filter(
    (name) =>
      !name.startsWith('freeze ') ||
      plan.stopsAt.some(({ process, point }) => name === `freeze ${process} at ${point}`),
  );
  const fired = [
    ...stops,
    ...cutter.fired.map(({ moment }) => `cut ${moment}`),
    ...disturbed,
    ...clocksApart(plan),
    ...(await admin.faults()).filter((rule) => rule.fired > 0).map(({ fault }) => `service ${fault.kind}`),
  ];
  const found = [...refused, ...violations, ...undelivered, ...silent, ...ends];
  const logs = found.length > 0 ? { logs: keepLogs(stack, fleet, plan) } : {};
  await Promise.all([stack.killAll(), fleet.killAll()]);
  removeFolder(folder);
  return {
    plan,
    durationMs: Math.round(performance.now() - began),
    results,
    fired,
    unfired: without(plannedFaults(plan), fired),
    setBacks,
    longestHistory,
    violations: found,
    ...logs,
  };
}

/** Only a set-back may lose the eSIM that a request names. */
function withoutWork(things: readonly Thing[]): string[] {
  return things
    .filter(({ ids }) => ids.size === 0)
    .map(({ planned, reference }) => `the ${planned.kind} ${reference} was refused: its eSIM was not found`);
}

function without(all: readonly string[], some: readonly string[]): string[] {
  const left = [...some];
  return all.filter((each) => {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/** Writes the plan and the output of the processes to a file, to examine a violation. @returns the file's path. */
function keepLogs(stack: Stack, fleet: Fleet, plan: CrashPlan): string {
  const file = join(import.meta.dirname, '../../artifacts', `crash-${plan.seed}-${Date.now()}.log`);
  appendFileSync(file, `${JSON.stringify(plan, undefined, 2)}\n${stack.outputs()}\n${fleet.outputs()}\n`);
  return relative(process.cwd(), file);
}
