import { readWorkerConfig, type WorkerConfig } from '#config/config.ts';
import { FaultPoints } from '#test/crash/processes/fault-points.ts';
import { watchCommits, watchHandOver, watchServiceCalls } from '#test/crash/processes/instrument.ts';
import { createWorkerParts, type WorkerParts } from '#worker/composition.ts';
import { runWorker } from '#worker/run.ts';

/** The defect that a saboteur adds to the worker; see `test/crash/saboteurs/`. */
interface Defect {
  readonly config?: (config: WorkerConfig) => WorkerConfig;
  readonly activities?: (config: WorkerConfig, parts: WorkerParts) => Partial<WorkerParts['activities']>;
}

/** Runs the worker with points around its commits, its calls, and its activities. */
export async function startWatchedWorker({ config: change, activities: replace }: Defect = {}): Promise<void> {
  const points = new FaultPoints();
  watchCommits(points, 'relay');
  watchServiceCalls(points);
  watchHandOver(points);
  const read = readWorkerConfig();
  const shortened = withShortRelayWaits(read);
  const config = change?.(shortened) ?? shortened;
  const parts = createWorkerParts(config);
  const activities = { ...parts.activities, ...replace?.(config, parts) };
  // A round of deliveries sends several in parallel.
  const webhookActivities = watched(parts.webhookActivities, points, { inOrder: false });
  await runWorker(config, { ...parts, activities: watched(activities, points), webhookActivities });
}

/** The waits between ten tries take four minutes, and no variable shortens them. Here they take 15 seconds. */
function withShortRelayWaits(config: WorkerConfig): WorkerConfig {
  const relay = { ...config.policy.relay, retryDelayMs: 200, retryDelayMaxMs: 2_000 };
  return { ...config, policy: { ...config.policy, relay } };
}

function watched<Activities extends object>(
  activities: Activities,
  points: FaultPoints,
  how: { readonly inOrder: boolean } = { inOrder: true },
): Activities {
  const entries = Object.entries(activities).map(([name, activity]) => [
    name,
    (input: object | undefined) => {
      // After its claim, the activity of a first task has the points of a send.
      const next = input !== undefined && 'firstSend' in input ? 'sendPurchase' : undefined;
      return points.within(
        name,
        async () => {
          points.reach(`${name} > start`);
          const result = await (activity as (input: object | undefined) => Promise<unknown>)(input);
          points.reach(`${points.scope} > end`);
          return result;
        },
        { ...how, next },
      );
    },
  ]);
  return Object.fromEntries(entries) as Activities;
}
