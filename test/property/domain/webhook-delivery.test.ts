import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventTypes, isEventPattern, selects } from '#domain/events/event-types.ts';
import {
  type EndpointHealth,
  isDelivered,
  isFailing,
  judgeTry,
  TRY_FAILURES,
  type TryFailure,
  type TryOutcome,
} from '#domain/events/webhook-delivery.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { assertForAll } from '#test/support/for-all.ts';

const policy = DEFAULT_POLICY.outbound;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const failures = Object.keys(TRY_FAILURES) as TryFailure[];

const outcome: fc.Arbitrary<TryOutcome> = fc.oneof(
  fc.record({
    kind: fc.constant('answered' as const),
    status: fc.integer({ min: 100, max: 599 }),
    retryAfterMs: fc.integer({ min: 0, max: 10 * DAY }),
  }),
  fc.record({ kind: fc.constant('no_answer' as const), failure: fc.constantFrom(...failures) }),
);
const spread = fc.double({ min: 0, max: 1, noNaN: true });

/** A try of a new delivery. */
const tried = (answer: TryOutcome, health: EndpointHealth, now = 0, at = 0.5) =>
  judgeTry(answer, { failedTries: 0, triedSince: now, health }, now, at, policy);

/** One delivery to an endpoint with a constant answer. @returns the times of its tries, after its publication. */
function triesOf(answer: TryOutcome, spreadOf: () => number) {
  const at: number[] = [];
  let health: EndpointHealth = { failures: 0 };
  let now = 0;
  for (let failedTries = 0; ; failedTries += 1) {
    at.push(now);
    const judged = judgeTry(answer, { failedTries, triedSince: 0, health }, now, spreadOf(), policy);
    ({ health } = judged);
    const { state, nextTryAt } = judged.delivery;
    if (state !== 'pending' || nextTryAt === undefined) return { at, state, disable: judged.disable };
    now = Math.max(nextTryAt, health.retryAt ?? 0);
  }
}

/** The end when answer and time alone decide; undefined when it depends on the delay. */
function expectedEnd(answer: TryOutcome, triedFor: number) {
  if (isDelivered(answer)) return ['delivered', undefined];
  if (answer.kind === 'answered' && answer.status === 410) return ['failed', 'gone'];
  if (triedFor > policy.retryForMs) return ['failed', undefined];
  return triedFor < policy.retryForMs - 1.2 * policy.retryDelayMaxMs ? ['pending', undefined] : undefined;
}

describe('a delivery try', () => {
  it('ends a delivery with any 2xx, at its time limit, with 410, or with its endpoint', () => {
    const upTo = (max: number) => fc.integer({ min: 0, max });
    assertForAll(outcome, spread, upTo(40), upTo(6 * DAY), upTo(50), (answer, at, failedTries, triedFor, failed) => {
      const now = 100 * DAY;
      const failingFor = failed === 0 ? undefined : Math.min(triedFor, 2 * DAY);
      const failing = failingFor !== undefined && { failingSince: now - failingFor };
      const attempt = { failedTries, triedSince: now - triedFor, health: { failures: failed, ...failing } };
      const { delivery, health, disable } = judgeTry(answer, attempt, now, at, policy);
      const expected = expectedEnd(answer, triedFor);
      expect([delivery.state, disable]).toEqual(expected ?? [delivery.state, undefined]);
      expect([health.failures, health.failingSince]).toEqual(
        isDelivered(answer) ? [0, undefined] : [failed + 1, now - (failingFor ?? 0)],
      );
      const waitMs = (delivery.nextTryAt ?? now + policy.retryDelayMs) - now;
      expect(waitMs).toBeGreaterThanOrEqual(0.8 * policy.retryDelayMs);
      expect(waitMs).toBeLessThanOrEqual(1.2 * policy.retryDelayMaxMs);
      expect(delivery.nextTryAt === undefined || triedFor + waitMs <= policy.retryForMs).toBe(true);
      expect(delivery.state === 'pending').toBe(delivery.nextTryAt !== undefined);
    });
  });

  it('delays at least as long as Retry-After, within limits', () => {
    assertForAll(fc.integer({ min: 0, max: 10 * DAY }), spread, (retryAfterMs, at) => {
      const answer = { kind: 'answered', status: 429, retryAfterMs } as const;
      const { delivery, health } = tried(answer, { failures: 0 }, 0, at);
      const asked = Math.min(retryAfterMs, policy.retryDelayMaxMs);
      expect(delivery.nextTryAt).toBeGreaterThanOrEqual(asked);
      // The endpoint has asked for a delay, so it gets nothing else either.
      expect(health.retryAt ?? 0).toBeGreaterThanOrEqual(asked);
    });
  });
});

describe('a delay that an endpoint has requested', () => {
  it('ends at its time, for any result of concurrent sends', () => {
    const outcome = fc.oneof(
      fc
        .integer({ min: 200, max: 599 })
        .filter((status) => status !== 410)
        .map((status) => ({ kind: 'answered', status }) as const),
      fc.constant({ kind: 'no_answer', failure: 'timeout' } as const),
    );
    const anHour = fc.integer({ min: -HOUR, max: HOUR });
    const fewFailures = fc.integer({ min: 0, max: policy.failingAfter - 1 });
    assertForAll(outcome, anHour, fewFailures, spread, (each, ahead, failures, at) => {
      const { health } = tried(each, { failures, retryAt: DAY + ahead }, DAY, at);
      expect((health.retryAt ?? 0) >= DAY + ahead).toBe(ahead > 0 || health.retryAt !== undefined);
    });
  });

  it('ends with the first success after failures, because it was our own delay', () => {
    const failing = { failures: policy.failingAfter, failingSince: 0, retryAt: HOUR };
    expect(tried({ kind: 'answered', status: 204 }, failing).health).toEqual({ failures: 0 });
  });
});

describe('a delivery to an endpoint that does not answer', () => {
  it('is tried with growing delays for almost three days', () => {
    assertForAll(fc.infiniteStream(spread), (spreads) => {
      const { at, state } = triesOf({ kind: 'answered', status: 503 }, () => Number(spreads.next().value));
      expect(state).toBe('failed');
      expect(at[1]).toBeLessThanOrEqual(10_000);
      expect(at.filter((each) => each < HOUR).length).toBeGreaterThanOrEqual(8);
      expect(at.length).toBeGreaterThanOrEqual(18);
      expect(at.length).toBeLessThanOrEqual(30);
      expect(at.at(-1)).toBeGreaterThan(3 * DAY - 8 * HOUR);
      expect(at.at(-1)).toBeLessThanOrEqual(3 * DAY);
    });
  });

  it('disables the endpoint after five days without a success, not before', () => {
    const disableAfter = (days: number) =>
      tried({ kind: 'no_answer', failure: 'timeout' }, { failures: 30, failingSince: (100 - days) * DAY }, 100 * DAY)
        .disable;
    expect([disableAfter(4.99), disableAfter(5)]).toEqual([undefined, 'failing']);
  });

  it('is sent with others at first, then one at a time, at least every quarter of an hour', () => {
    let health: EndpointHealth = { failures: 0 };
    for (let failed = 1; failed <= 20; failed += 1) {
      ({ health } = tried({ kind: 'answered', status: 500 }, health, 0, 1));
      expect(isFailing(health, policy)).toBe(failed >= policy.failingAfter);
      expect(health.retryAt === undefined).toBe(failed < policy.failingAfter);
      expect(health.retryAt ?? 0).toBeLessThanOrEqual(1.2 * policy.probeDelayMaxMs);
    }
  });
});

describe('a filter of events', () => {
  it('selects exactly its types', () => {
    const selected = (...patterns: string[]) => eventTypes.filter((type) => selects(patterns, type));
    expect([selected('*'), selected()]).toEqual([eventTypes, []]);
    for (const type of eventTypes) {
      const [kind = ''] = type.split('.');
      expect(selected(type)).toEqual([type]);
      expect(selected(`${kind}.*`)).toEqual(eventTypes.filter((other) => other.startsWith(`${kind}.`)));
    }
  });

  it('has only patterns that select a type', () => {
    const patterns = ['*', 'order.*', 'order.completed', 'webhook_endpoint.*'];
    const others = ['', 'order', 'order.', '*.completed', 'order.submitting', 'orders.*', '**', 'order.comp*'];
    expect([...patterns, ...others].filter(isEventPattern)).toEqual(patterns);
  });
});
