import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { FAILURE_CONVERTER_PATH } from '#temporal/codec/payload-codec.ts';
import { readHistory, textsOf, waitsIn } from '#test/support/work/workflows/histories.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { SCENARIOS } from '#test/workflow/scenarios/scenarios.ts';
import { forVersionedWorkers, workflowBundle } from '#worker/bundle.ts';
import { TRACE_HEADER } from '#workflows/messages.ts';

quietRuntime();

const FOLDER = join(import.meta.dirname, 'histories');
const recorded = readdirSync(FOLDER)
  .flatMap((version) => readdirSync(join(FOLDER, version)).map((file) => `${version}/${file}`))
  .toSorted();
const jsonOf = (name: string): unknown => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
const waitsOf = (name: string) => waitsIn(readHistory(jsonOf(name)));

/** Fields of a decoded input or result of each workflow. */
const READABLE = new RegExp(
  [
    '"kind":"(?:order","id":"ord|topup","id":"top|vpn_subscription","id":"vpn|cancellation","id":"can)_',
    '"endpointId":"we_',
    '"(?:lookedUp|requested|expiring|findings|vpnPlans)":',
  ].join('|'),
);

const dataConverter = { failureConverterPath: FAILURE_CONVERTER_PATH };
/** What the replay of each history ended with: undefined, or an error. */
let withPresent: ReadonlyMap<string, Error | undefined>;
let withChanged: ReadonlyMap<string, Error | undefined>;
/** The same for histories of traced workflows. */
let traced: ReadonlyMap<string, Error | undefined>;

/** Replays all recorded histories with one worker. */
async function replayAll(
  bundle: { code: string },
  read: (name: string) => ReturnType<typeof readHistory> = (name) => readHistory(jsonOf(name)),
): Promise<ReadonlyMap<string, Error | undefined>> {
  const histories = recorded.map((name) => ({ workflowId: name, history: read(name) }));
  const results = Worker.runReplayHistories({ workflowBundle: bundle, dataConverter }, histories);
  const errors = new Map<string, Error | undefined>();
  for await (const { workflowId, error } of results) errors.set(workflowId, error);
  return errors;
}

/** A history as it is when its workflow was started in a trace: with the header at the start and at each activity. */
function tracedHistory(name: string): ReturnType<typeof readHistory> {
  const history = readHistory(jsonOf(name));
  const payload = defaultPayloadConverter.toPayload({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
  for (const event of history.events ?? []) {
    const withHeader = event.workflowExecutionStartedEventAttributes ?? event.activityTaskScheduledEventAttributes;
    if (withHeader) withHeader.header = { fields: { [TRACE_HEADER]: payload } };
  }
  return history;
}

beforeAll(async () => {
  const [present, changed] = await Promise.all([
    workflowBundle(inject('bundledWorkflows')),
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('broken-workflow.ts', import.meta.url)),
      failureConverterPath: FAILURE_CONVERTER_PATH,
      logger: new DefaultLogger('WARN'),
    }),
  ]);
  withPresent = await replayAll(present);
  withChanged = await replayAll(changed);
  traced = await replayAll(present, tracedHistory);
});

describe('recorded histories', () => {
  it('of this release exist for each scenario', () => {
    const ways = recorded.filter((name) => name.startsWith('0.1.0/')).map((name) => name.slice('0.1.0/'.length, -5));
    expect(ways).toEqual(Object.keys(SCENARIOS).toSorted());
  });

  it.each(recorded)(
    '%s has a heartbeat timeout for every activity, so that the loss of a worker is detected',
    (name) => {
      const { events } = readHistory(jsonOf(name));
      const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: of }) => of ?? []);
      for (const { activityType, heartbeatTimeout } of scheduled) {
        expect(Number(heartbeatTimeout?.seconds ?? 0), activityType?.name ?? '').toBeGreaterThan(0);
      }
    },
  );

  it.each(recorded)('%s has a name for every wait, for the Temporal UI', (name) => {
    for (const text of waitsOf(name)) expect(text).toMatch(/^[A-Z].{10,}$/);
  });

  it('name a wait for an operator after the reason of its case', () => {
    expect(waitsOf('0.1.0/needs-attention-then-completed.json')).toContain('Waits for a person (outcome_unknown)');
    expect(waitsOf('0.1.0/refund-failed-then-dismissed.json')).toEqual(['Waits for a person (refund_failed)']);
  });

  it.each(recorded)('%s contains no trace of the recording machine, and no secret', (name) => {
    const texts = textsOf(jsonOf(name));
    expect(texts.length).toBeGreaterThan(name.includes('scheduled-') ? 10 : 20);
    for (const text of texts) {
      expect(text).not.toMatch(
        /file:\/\/|node_modules|\n\s+at |\/(?:home|root|tmp|usr|var|Users)\/|binary\/encrypted|LPA:1/,
      );
      expect(text).not.toContain(hostname());
    }
    // The payloads are readable.
    expect(texts.join('\n')).toMatch(READABLE);
  });

  it.each(recorded)('%s can be replayed with the present workflows', (name) => {
    expect(withPresent.has(name)).toBe(true);
    expect(withPresent.get(name)).toBeUndefined();
  });

  it.each(recorded)('%s can be replayed when it was traced', (name) => {
    expect(traced.has(name)).toBe(true);
    expect(traced.get(name)).toBeUndefined();
  });

  it('can be replayed by workers with a version', async () => {
    const errors = await replayAll(forVersionedWorkers(await workflowBundle(inject('bundledWorkflows'))));
    expect([...errors.values()].filter((error) => error !== undefined)).toEqual([]);
    expect(errors.size).toBe(recorded.length);
  });

  it.each(recorded)('%s cannot be replayed with a changed workflow', (name) => {
    expect(withChanged.get(name)).toBeInstanceOf(DeterminismViolationError);
  });
});
