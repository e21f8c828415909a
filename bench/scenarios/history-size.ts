import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { ScenarioResult } from '#bench/results.ts';
import { measure } from '#bench/support/comparison.ts';

const RECORDED = join(import.meta.dirname, '../../test/workflow/histories');

const event = z.looseObject({
  eventType: z.string(),
  activityTaskStartedEventAttributes: z.looseObject({ attempt: z.int().optional() }).optional(),
  markerRecordedEventAttributes: z.looseObject({ workflowTaskCompletedEventId: z.string() }).optional(),
});
const history = z.object({ events: z.array(event) });
type Event = z.output<typeof event>;

/** An event more for each way that something can go wrong is fine; a loop that nobody meant is not. */
const LIMIT = 60;
/**
 * Histories of webhook endpoints: they are as long as their receivers are down, and go on in new runs. So they are
 * measured by round.
 */
const ROUNDS = /^webhook_/;
const ROUND_LIMIT = 20;

/**
 * How many events and billable actions each way of each lifecycle takes, by the histories that were recorded of the
 * real product: they are replayed by the tests, so they are what the workflows do.
 */
export async function measureHistorySize(): Promise<ScenarioResult[]> {
  return readdirSync(RECORDED, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => {
      const { events } = history.parse(JSON.parse(readFileSync(join(RECORDED, name), 'utf8')));
      const path = /([^/\\]+)\.json$/.exec(name)?.[1]?.replaceAll('-', '_') ?? name;
      const activities = countOf(events, 'ACTIVITY_TASK_SCHEDULED');
      const rounds = ROUNDS.test(path);
      return measure({
        id: `history.${path}`,
        measured: `Events in the history of the recorded way ${path.replaceAll('_', ' ')}${rounds ? ', by round of tries' : ''}`,
        unit: rounds ? 'events/round' : 'events',
        better: 'lower',
        values: [rounds ? events.length / activities : events.length],
        limit: {
          of: 'value',
          bound: 'at_most',
          amount: rounds ? ROUND_LIMIT : LIMIT,
          reason: 'Every wait by its name, and nothing that repeats without one.',
        },
        details: {
          events: events.length,
          actions: actionsOf(events),
          activities,
          timers: countOf(events, 'TIMER_STARTED'),
        },
      });
    });
}

/**
 * Billable actions, as Temporal's pricing counts them: the start, each attempt of an activity, each timer, signal,
 * update and write of search attributes, and the local activities of one workflow task together.
 */
function actionsOf(events: readonly Event[]): number {
  const retries = events.reduce(
    (sum, { activityTaskStartedEventAttributes: started }) => sum + Math.max(0, (started?.attempt ?? 1) - 1),
    0,
  );
  const single = [
    'WORKFLOW_EXECUTION_STARTED',
    'ACTIVITY_TASK_SCHEDULED',
    'TIMER_STARTED',
    'WORKFLOW_EXECUTION_SIGNALED',
    'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
    'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  ];
  const tasksWithLocalActivities = new Set(
    events.flatMap(({ markerRecordedEventAttributes: marker }) => marker?.workflowTaskCompletedEventId ?? []),
  );
  return single.reduce((sum, type) => sum + countOf(events, type), retries) + tasksWithLocalActivities.size;
}

function countOf(events: readonly Event[], type: string): number {
  return events.filter(({ eventType }) => eventType === `EVENT_TYPE_${type}`).length;
}
