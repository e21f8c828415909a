import { describe, expect, it } from 'vitest';
import {
  afterDrift,
  afterLook,
  afterReleaseByDocument,
  afterSend,
  afterStart,
  isUnfilledTooLong,
  judgeAtDriftStop,
  nextCanary,
  NO_DRIFT_STOP,
  type CanaryFate,
  type DriftStop,
  withoutCanary,
} from '#domain/gate/drift.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';

const GATE_POLICY = DEFAULT_POLICY.gate;
const { driftCanaryMs, driftCanaries, canaryLeaseMs } = GATE_POLICY;
const A = 1;
const B = 2;

const drifted = (line: DriftStop, id: string, product: number, { begunAt, now }: { begunAt: number; now: number }) =>
  afterDrift(line, { id, product, begunAt }, now);
const next = (line: DriftStop, of: readonly number[], now: number) => {
  const waiting = of.map((product) => ({ product }));
  return nextCanary(line, waiting, now, GATE_POLICY);
};
const look = (
  line: DriftStop,
  now: number,
  fates: Readonly<Record<string, CanaryFate>> = {},
  parked: readonly number[] = [],
  unproven: readonly number[] = [],
) => {
  const facts = { parkedProducts: new Set(parked), unprovenProducts: new Set(unproven) };
  return afterLook(line, { fates: new Map(Object.entries(fates)), ...facts }, now, GATE_POLICY);
};
const asks = (
  line: DriftStop,
  id: string,
  product: number,
  now: number,
  more: { mayHaveBought?: true; isFirst?: false } = {},
) => judgeAtDriftStop(line, { id, product, mayHaveBought: false, isFirst: true, ...more }, now, GATE_POLICY);

/** Product A drifted at 100. */
const once = drifted(NO_DRIFT_STOP, 'a1', A, { begunAt: 50, now: 100 });
/** The canary of product B was sent at 200. */
const proving = afterSend(once, { id: 'b1', product: B }, 200);
/** It drifted, too. */
const twice = drifted(proving, 'b1', B, { begunAt: 200, now: 300 });

describe('a first drift', () => {
  it('stops its product, and lets one purchase of another product go', () => {
    expect(asks(once, 'a2', A, 200)).toBe('hold');
    expect(asks(once, 'b1', B, 200)).toBe('canary');
    expect(asks(proving, 'b2', B, 201)).toBe('hold');
    expect(next(once, [A, B], 200)).toEqual({ product: B });
  });

  it('lets the other products go once the canary is whole, and its own once its purchase is', () => {
    const proven = look(proving, 300, { b1: 'whole' }, [A]);
    expect(proven).toMatchObject({ state: 'product_stopped', stoppedProducts: [A] });
    expect([asks(proven, 'a2', A, 301), asks(proven, 'b2', B, 301)]).toEqual(['hold', 'pass']);
    expect(look(proven, 400)).toEqual(NO_DRIFT_STOP);
  });

  it('ends with one canary when its purchase is whole before another product was proven', () => {
    const ended = look(once, 300);
    expect(ended).toMatchObject({ state: 'proving', drifts: 0, stoppedProducts: [] });
    expect(asks(ended, 'a2', A, 301)).toBe('canary');
  });

  it('is no second one when its send began before the stop', () => {
    const late = drifted(once, 'b9', B, { begunAt: 99, now: 150 });
    expect(late).toMatchObject({ state: 'proving', drifts: 1, stoppedProducts: [A, B] });
  });

  it('does not hold a send that may have bought', () => {
    expect(asks(twice, 'a2', A, 400, { mayHaveBought: true })).toBe('pass');
  });
});

describe('a second drift', () => {
  it('stops the kind, until a person starts it', () => {
    expect(twice.state).toBe('stopped');
    expect(asks(twice, 'c1', 3, 400)).toBe('hold');
    expect(next(twice, [3], 400)).toBeUndefined();
    const started = afterStart(twice);
    expect(next(started, [A, 3], 400)).toEqual({ product: 3 });
    expect(next(started, [A], 400)).toEqual({ product: A });
  });

  it('is not undone by a canary that was sent before it', () => {
    const two = afterSend(proving, { id: 'b2', product: B }, 250);
    const stopped = drifted(two, 'b2', B, { begunAt: 250, now: 300 });
    expect(look(stopped, 400, { b1: 'whole' }, [A, B]).state).toBe('stopped');
  });

  it('ends by itself when all are whole, with one canary', () => {
    expect(look(twice, 400, {}, [A]).state).toBe('stopped');
    const ended = look(twice, 400);
    expect(ended.state).toBe('proving');
    expect(look(afterSend(ended, { id: 'a3', product: A }, 500), 600, { a3: 'whole' })).toEqual(NO_DRIFT_STOP);
  });

  it('of a product that was stopped alone stops the kind', () => {
    const proven = look(proving, 300, { b1: 'whole' }, [A]);
    expect(drifted(proven, 'b3', B, { begunAt: 10_310, now: 10_320 }).state).toBe('stopped');
  });
});

describe('a drifted purchase that ends without a whole delivery', () => {
  it('lets one purchase of its product go before the others', () => {
    const proven = look(proving, 300, { b1: 'whole' }, [A]);
    expect(look(proven, 400, {}, [], [A])).toMatchObject({ state: 'proving', stoppedProducts: [] });
  });
});

describe('a person who starts a stopped product', () => {
  it('lets one purchase of it go, and the other products pass', () => {
    const started = afterStart(look(proving, 300, { b1: 'whole' }, [A]));
    expect(asks(started, 'b2', B, 400)).toBe('pass');
    expect(next(started, [A], 400)).toEqual({ product: A });
    const sent = afterSend(started, { id: 'a2', product: A }, 400);
    expect(next(sent, [A], 401)).toBeUndefined();
    expect(look(sent, 500, { a2: 'whole' }, [A])).toEqual(NO_DRIFT_STOP);
  });

  it('changes nothing on an open line', () => {
    expect(afterStart(NO_DRIFT_STOP)).toBe(NO_DRIFT_STOP);
  });
});

describe('a release by a document alone', () => {
  it('lets one purchase go until it is whole', () => {
    const released = afterReleaseByDocument(NO_DRIFT_STOP);
    expect(asks(released, 'a1', A, 100, { isFirst: false })).toBe('hold');
    expect(asks(released, 'a1', A, 100)).toBe('canary');
    const sent = afterSend(released, { id: 'a1', product: A }, 100);
    expect(asks(sent, 'a2', A, 101)).toBe('hold');
    expect(look(sent, 200, { a1: 'whole' })).toEqual(NO_DRIFT_STOP);
  });

  it('changes no line that is stopped', () => {
    expect(afterReleaseByDocument(twice)).toBe(twice);
  });
});

describe('a canary', () => {
  it('of a product that is stopped after its call is held', () => {
    const called = { ...once, canaries: [{ id: 'b1', product: B, calledAt: 150, sentAt: null }] };
    const late = drifted(called, 'b0', B, { begunAt: 99, now: 160 });
    expect(asks(late, 'b1', B, 170)).toBe('hold');
  });

  it('that was sent stays one when its resend is held elsewhere', () => {
    expect(withoutCanary(proving, 'b1')).toEqual(proving);
  });

  const released = afterReleaseByDocument(NO_DRIFT_STOP);

  it('that bought nothing passes the turn on', () => {
    const sent = afterSend(released, { id: 'a1', product: A }, 100);
    expect(asks(look(sent, 200, { a1: 'passed_on' }), 'a2', A, 201)).toBe('canary');
  });

  it('that shows nothing for long lets one other go, up to the limit', () => {
    let line = released;
    let now = 100;
    for (let n = 0; n < driftCanaries; n += 1) {
      expect(asks(line, `a${n}`, A, now)).toBe('canary');
      line = look(afterSend(line, { id: `a${n}`, product: A }, now), now);
      expect(asks(line, 'next', A, now + driftCanaryMs - 1)).toBe('hold');
      now += driftCanaryMs;
    }
    expect(asks(line, 'next', A, now * 10)).toBe('hold');
  });

  it('that was called and never sent loses its turn', () => {
    const called = { ...released, canaries: [{ id: 'a1', product: A, calledAt: 100, sentAt: null }] };
    expect(asks(called, 'a2', A, 101)).toBe('hold');
    expect(asks(look(called, 100 + canaryLeaseMs), 'a2', A, 200 + canaryLeaseMs)).toBe('canary');
  });
});

describe('a delivery that is not there', () => {
  it.each([
    [0, 5, false],
    [0, GATE_POLICY.unfilledMs, true],
    [GATE_POLICY.unfilledMs, GATE_POLICY.unfilledMs, false],
    [GATE_POLICY.unfilledMs, 2 * GATE_POLICY.unfilledMs, true],
  ])('after a longest fill of %d ms is drift after %d ms: %s', (longest, unfilled, expected) => {
    expect(isUnfilledTooLong(unfilled, longest, GATE_POLICY)).toBe(expected);
  });
});
