import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { registeredActivities } from '#test/support/work/activities/registered-activities.ts';
import { readHistory, textIn, waitsIn } from '#test/support/work/workflows/histories.ts';
import * as messages from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * The replay test covers only recorded code. Every wait, activity, signal, update and case reason must be in a history.
 * A new one needs a scenario (docs/how-to/change-a-workflow.md).
 */
const FOLDER = join(import.meta.dirname, 'histories');
const histories = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file) => readHistory(JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))));
const events = histories.flatMap((history) => history.events ?? []);
const waits = histories.flatMap(waitsIn);

/** @returns the names of the waits that no history has. */
function unrecorded(names: Readonly<Record<string, (one: string, other: string) => string>>): string[] {
  const named = Object.values(names).map((name) => name('…', '…'));
  return named.filter((name) => {
    const pattern = new RegExp(`^${name.replaceAll(/[()]/g, '\\$&').replaceAll('…', '\\w+')}$`);
    return !waits.some((wait) => pattern.test(wait));
  });
}

/** The names of all signals or updates of workflows. */
function definitions(type: 'signal' | 'update'): string[] {
  const definition = z.object({ type: z.literal(type), name: z.string() });
  return Object.values(messages).flatMap((each) => definition.safeParse(each).data?.name ?? []);
}

/** The marker of a local activity. */
const local = z.object({ activity_type: z.string() });
const localActivities = events.flatMap(({ markerRecordedEventAttributes: marker, userMetadata }) => {
  const [payload] = marker?.markerName === 'core_local_activity' ? (marker.details?.['data']?.payloads ?? []) : [];
  if (payload == null) return [];
  const { activity_type: name } = local.parse(JSON.parse(Buffer.from(payload.data ?? []).toString('utf8')));
  return [{ name, summary: textIn(userMetadata?.summary) }];
});
const activities = events
  .flatMap(({ activityTaskScheduledEventAttributes: of, userMetadata }) =>
    of == null ? [] : [{ name: of.activityType?.name ?? '', summary: textIn(userMetadata?.summary) }],
  )
  .concat(localActivities);

const attentionReasons = events.flatMap(({ upsertWorkflowSearchAttributesEventAttributes: shown }) => {
  const payload = shown?.searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.attentionReason.name];
  return payload?.data == null || payload.data.length === 0 || Buffer.from(payload.data).toString() === 'null'
    ? []
    : [textIn(payload)];
});

/** Reasons of cases that do not change the status of work. */
const BESIDE_WORK: readonly AttentionReason[] = [
  'iccid_unreadable',
  'charged_above_limit',
  'debited_twice',
  'charge_not_refunded',
  'amount_differs',
  'movement_missing',
  'message_quarantined',
  'webhook_conflict',
];
/** Handled like `refund_failed`, and like `attempts_used_up`. */
const NOT_RECORDED: readonly AttentionReason[] = ['refund_missing', 'failed_but_charged', 'evidence_unavailable'];

const patchId = ({ data }: { readonly data?: Uint8Array | null }) =>
  z.object({ id: z.string() }).parse(JSON.parse(Buffer.from(data ?? []).toString('utf8'))).id;

const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted();

describe('the set of recorded histories', () => {
  it('contains every wait of the workflows', () => {
    expect(unrecorded(WAIT_NAMES)).toEqual([]);
    // A missing one is reported.
    expect(unrecorded({ ...WAIT_NAMES, nap: (one) => `Has a nap (${one})` })).toEqual(['Has a nap (…)']);
  });

  it('contains every registered activity', async () => {
    expect(sorted(activities.map(({ name }) => name))).toEqual(sorted(await registeredActivities()));
  });

  it('contains, for every activity, a sentence about its purpose for the Temporal UI', () => {
    const described = activities.filter(({ summary }) => /^[A-Z].{10,}/.test(summary));
    expect(sorted(described.map(({ name }) => name))).toEqual(sorted(activities.map(({ name }) => name)));
    const summaries = described.map(({ summary }) => summary);
    // The decision, with the reason of the hold or of the case.
    expect(summaries).toContain('Record order.held (price_above_limit)');
    expect(summaries).toContain('Read in the wallet whether attempt 1 was charged');
    expect(summaries).toContain('Look attempt 1 up at the service');
  });

  it('contains every update and every signal of the workflows', () => {
    const updates = events.flatMap(
      ({ workflowExecutionUpdateAcceptedEventAttributes: of }) => of?.acceptedRequest?.input?.name ?? [],
    );
    const signals = events.flatMap(({ workflowExecutionSignaledEventAttributes: of }) => of?.signalName ?? []);
    expect(definitions('update').length).toBeGreaterThan(3);
    expect(sorted(updates)).toEqual(sorted(definitions('update')));
    expect(sorted(signals)).toEqual(sorted(definitions('signal')));
  });

  it('contains every patch of the workflows', () => {
    const folder = join(import.meta.dirname, '../../workflows');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const patches = sources.flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/patched\('([\w-]+)'\)/g)].map(([, id]) => id ?? ''),
    );
    const recorded = events.flatMap(({ markerRecordedEventAttributes: marker }) =>
      marker?.markerName === 'core_patch' ? (marker.details?.['patch-data']?.payloads ?? []).map(patchId) : [],
    );
    expect(sorted(recorded)).toEqual(sorted(patches));
  });

  it('contains every reason of a case that stops work', () => {
    const reasons = Object.keys(ATTENTION_REASONS).filter(
      (reason) => ![...BESIDE_WORK, ...NOT_RECORDED].some((each) => each === reason),
    );
    expect(sorted(attentionReasons)).toEqual(sorted(reasons));
  });

  it('contains every workflow, and for long ones a new run with its carried state', () => {
    const { WORK_WORKFLOWS, MAINTENANCE_WORKFLOWS, WEBHOOK_ENDPOINT_WORKFLOW } = messages;
    const started = events.flatMap(({ workflowExecutionStartedEventAttributes: of }) => of ?? []);
    const all = [...Object.values(WORK_WORKFLOWS), ...Object.values(MAINTENANCE_WORKFLOWS), WEBHOOK_ENDPOINT_WORKFLOW];
    expect(sorted(started.map(({ workflowType }) => workflowType?.name ?? ''))).toEqual(sorted(all));
    const continued = events.flatMap(
      ({ workflowExecutionContinuedAsNewEventAttributes: of }) => of?.workflowType?.name ?? [],
    );
    expect(sorted(continued)).toEqual(
      sorted([WORK_WORKFLOWS.order, WORK_WORKFLOWS.vpn_subscription, WEBHOOK_ENDPOINT_WORKFLOW]),
    );
    const inputs = started
      .flatMap(({ input }) => input?.payloads ?? [])
      .map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
    expect(inputs.some((input) => /"carried":\{"holds":[1-9]/.test(input))).toBe(true);
  });
});
