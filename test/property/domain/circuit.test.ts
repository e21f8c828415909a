import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterCircuitEvent,
  CIRCUIT_EVENTS,
  circuitNames,
  circuitSentence,
  CLOSED_CIRCUIT,
  evidenceFor,
  isIdle,
  judgeAtCircuit,
  probeDelayMs,
  sendEventFor,
  type Circuit,
  type CircuitEvent,
  type CircuitName,
  type SendEvidence,
} from '#domain/gate/circuit.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { assertForAll } from '#test/support/for-all.ts';

const policy = DEFAULT_POLICY.gate;
const NOW = 1_800_000_000_000;
const at = (time: number) => new Date(time);
const name = fc.constantFrom(...circuitNames);
const events = fc.array(fc.constantFrom(...CIRCUIT_EVENTS), { maxLength: 60 });

const step = (which: CircuitName, circuit: Circuit, event: CircuitEvent, now = NOW) =>
  afterCircuitEvent(which, circuit, { event, now }, policy);
const play = (which: CircuitName, list: readonly CircuitEvent[]) =>
  list.reduce((circuit, event, index) => step(which, circuit, event, NOW + index * 1_000), CLOSED_CIRCUIT);

describe('a circuit of the service', () => {
  it('has a time for its next canary while it is open, and a lease for the canary while it probes', () => {
    assertForAll(name, events, (which, list) => {
      const circuit = play(which, list);
      expect(circuit.probeAt !== null).toBe(circuit.state === 'open');
      expect(circuit.canaryUntil !== null).toBe(circuit.state === 'probing');
    });
  });

  it('closes from every state, once a canary succeeds and no work is held', () => {
    assertForAll(name, events, (which, list) => {
      let circuit = play(which, list);
      for (const event of ['canary_lost', 'probe_started', 'canary_succeeded', 'drained', 'succeeded'] as const)
        circuit = step(which, circuit, event);
      expect(circuit).toEqual(CLOSED_CIRCUIT);
    });
  });

  it('is never open after a purchase that it would have prevented', () => {
    assertForAll(name, events, fc.boolean(), (which, list, isCanary) => {
      const before = play(which, list);
      const event = sendEventFor(which, before, isCanary && before.state === 'probing', { kind: 'accepted' });
      const after = event === undefined ? before : step(which, before, event);
      expect(['closed', 'releasing']).toContain(after.state);
      expect(step(which, after, 'drained')).toEqual(CLOSED_CIRCUIT);
    });
  });

  it('does not stay open forever without waiting and new work', () => {
    assertForAll(name, events, (which, list) => {
      let circuit = play(which, list);
      let now = NOW + list.length * 1_000;
      // Like the gate loop, at each time at which an event is due.
      for (let looks = 0; looks < 4 && circuit.state !== 'closed'; looks += 1) {
        const idleFrom = (circuit.probeAt?.getTime() ?? 0) + policy.circuitIdleMs;
        now = Math.max(now, circuit.canaryUntil?.getTime() ?? 0, idleFrom);
        const event = circuit.state === 'probing' ? 'canary_lost' : circuit.state === 'releasing' ? 'drained' : 'idle';
        expect(isIdle(circuit, false, now, policy)).toBe(event === 'idle');
        circuit = step(which, circuit, event, now);
      }
      expect(circuit.state).toBe('closed');
    });
  });

  it('is idle only while it is open, long after its canary was due, without held work', () => {
    const open: Circuit = { ...CLOSED_CIRCUIT, state: 'open', probeAt: at(NOW) };
    const due = NOW + policy.circuitIdleMs;
    expect(isIdle(open, false, due, policy)).toBe(true);
    expect(isIdle(open, false, due - 1, policy)).toBe(false);
    expect(isIdle(open, true, due, policy)).toBe(false);
    expect(isIdle({ ...open, probeAt: null }, false, due, policy)).toBe(false);
    for (const state of ['closed', 'probing', 'releasing'] as const)
      expect(isIdle({ ...open, state }, false, due, policy)).toBe(false);
  });

  it('opens at the first failure where a retry does not help', () => {
    expect(circuitNames.filter((which) => play(which, ['failed']).state === 'open')).toEqual(['not_approved']);
  });

  it('has a delay within its limits, spread by up to a fifth, after any number of failed canaries', () => {
    assertForAll(name, fc.integer({ min: 1, max: 50 }), (which, openings) => {
      const delay = probeDelayMs(which, openings, policy);
      expect(delay).toBeGreaterThanOrEqual(Math.floor(policy.probeDelayMs * 0.8));
      expect(delay).toBeLessThanOrEqual(Math.ceil(policy.probeDelayMaxMs * 1.2));
    });
  });
});

describe('each circuit', () => {
  const ANSWERED: readonly CircuitName[] = ['service_down', 'unauthorized', 'rate_limited'];
  /** By failure class: the condition that it shows, and those that it ends. */
  const SAYS: Readonly<Record<FailureClass, readonly [CircuitName | undefined, readonly CircuitName[]]>> = {
    invalid_request: [undefined, ANSWERED],
    cancellation_refused: [undefined, ANSWERED],
    refund_not_expected: [undefined, ANSWERED],
    refund_uncertain: [undefined, ANSWERED],
    package_unavailable: [undefined, ANSWERED],
    price_above_limit: [undefined, ANSWERED],
    topup_not_offered: [undefined, ANSWERED],
    margin_too_low: [undefined, ANSWERED],
    key_or_reference_used: [undefined, ANSWERED],
    contract_drift: [undefined, ANSWERED],
    not_approved: ['not_approved', ANSWERED],
    insufficient_balance: ['insufficient_balance', [...ANSWERED, 'not_approved']],
    supplier_failed: [undefined, [...ANSWERED, 'not_approved', 'insufficient_balance']],
    unauthorized: ['unauthorized', ['service_down']],
    rate_limited: ['rate_limited', ['service_down']],
    not_sent: ['service_down', []],
    timeout: ['service_down', []],
    connection_lost: ['service_down', []],
    server_error: ['service_down', []],
    unreadable_answer: [undefined, []],
    esim_busy: [undefined, []],
    service_down: [undefined, []],
    spend_limit_reached: [undefined, []],
    purchases_paused: [undefined, []],
    deadline_passed: [undefined, []],
    worker_lost: [undefined, []],
  };

  it.each(Object.entries(SAYS))('gets only the evidence of %s for itself', (failure, [is, over]) => {
    for (const name of circuitNames) {
      const expected = name === is ? 'failed' : over.includes(name) ? 'succeeded' : 'nothing';
      const found = evidenceFor(name, { kind: 'failure', failure: failure as FailureClass });
      expect([name, found]).toEqual([name, expected]);
      expect(evidenceFor(name, { kind: 'accepted' })).toBe('succeeded');
      expect(evidenceFor(name, { kind: 'none' })).toBe('nothing');
    }
  });

  it('has a sentence for work that it holds', () => {
    for (const name of circuitNames) expect(circuitSentence(name)).toBe(FAILURE_CLASSES[name].meaning);
  });

  it('has a different delay than the others, which grows', () => {
    const waits = (openings: number) => circuitNames.map((name) => probeDelayMs(name, openings, EXACT));
    expect(new Set(waits(1)).size).toBe(circuitNames.length);
    expect(Math.max(...waits(1))).toBeLessThan(Math.min(...waits(2)));
  });
});

const EXACT = {
  circuitFailures: 3,
  probeDelayMs: 10_000,
  probeDelayMaxMs: 600_000,
  canaryLeaseMs: 5_000,
  circuitIdleMs: 60_000,
};

describe('an event', () => {
  const OPEN: Circuit = { state: 'open', failures: 3, openings: 2, probeAt: at(9_000), canaryUntil: null };
  const PROBING: Circuit = { ...OPEN, state: 'probing', probeAt: null, canaryUntil: at(6_000) };
  const RELEASING: Circuit = { ...OPEN, state: 'releasing', failures: 0, probeAt: null };
  const ON_TRIAL: Circuit = { ...OPEN, state: 'closed', failures: 2, probeAt: null };
  const openUntil = (time: number, openings = 2): Circuit => ({ ...OPEN, openings, probeAt: at(time) });
  const first = 1_000 + probeDelayMs('service_down', 1, EXACT);
  const again = 1_000 + probeDelayMs('service_down', 3, EXACT);

  it.each<[string, Circuit, CircuitEvent, Circuit, retryAfterMs?: number]>([
    ['counts', CLOSED_CIRCUIT, 'failed', { ...CLOSED_CIRCUIT, failures: 1 }],
    ['is the last straw', { ...CLOSED_CIRCUIT, failures: 2 }, 'failed', openUntil(first, 1)],
    ['ends a row of failures', { ...CLOSED_CIRCUIT, failures: 2 }, 'succeeded', CLOSED_CIRCUIT],
    ['changes nothing', OPEN, 'failed', OPEN],
    ['changes nothing while a canary is out', PROBING, 'succeeded', PROBING],
    ['changes nothing while others are released', RELEASING, 'succeeded', RELEASING],
    ['sends a canary', OPEN, 'probe_started', PROBING],
    ['is a sign of life', OPEN, 'succeeded', openUntil(1_000)],
    ['is a late success', openUntil(500), 'succeeded', openUntil(500)],
    ['is a sign of life where no canary was planned', { ...OPEN, probeAt: null }, 'succeeded', openUntil(1_000)],
    ['opens it for longer', PROBING, 'canary_failed', openUntil(again, 3)],
    ['opens it for the Retry-After of the service', PROBING, 'canary_failed', openUntil(901_000, 3), 900_000],
    ['opens it while others are released', RELEASING, 'failed', { ...openUntil(again, 3), failures: 0 }],
    ['has another canary sent', PROBING, 'canary_lost', openUntil(2_000)],
    ['releases other work', PROBING, 'canary_succeeded', RELEASING],
    ['releases other work although the canary was lost', OPEN, 'canary_succeeded', RELEASING],
    ['closes it', RELEASING, 'drained', CLOSED_CIRCUIT],
    ['is a purchase that bypassed it', OPEN, 'purchased', RELEASING],
    ['is a purchase that bypassed it during a canary', PROBING, 'purchased', RELEASING],
    ['closes it on trial', OPEN, 'idle', ON_TRIAL],
    ['is one failure after a trial', ON_TRIAL, 'failed', openUntil(again, 3)],
    ['is a success after a trial', ON_TRIAL, 'purchased', CLOSED_CIRCUIT],
  ])('%s', (_what, before, event, after, retryAfterMs) => {
    expect(afterCircuitEvent('service_down', before, { event, now: 1_000, retryAfterMs }, EXACT)).toEqual(after);
  });

  it('has the next canary sooner with shorter delays', () => {
    const sooner = { ...EXACT, probeDelayMs: 300 };
    const { probeAt } = afterCircuitEvent('service_down', PROBING, { event: 'canary_lost', now: 1_000 }, sooner);
    expect(probeAt).toEqual(at(1_300));
  });

  const ASKER = { isCanary: false, isWaiting: false, isOldest: true, isReleased: false };
  it.each([
    [CLOSED_CIRCUIT, ASKER, 'pass'],
    [CLOSED_CIRCUIT, { ...ASKER, isWaiting: true, isOldest: false }, 'pass'],
    [{ ...OPEN, probeAt: at(1_000) }, ASKER, 'canary'],
    [{ ...OPEN, probeAt: at(1_001) }, ASKER, 'hold'],
    [{ ...OPEN, probeAt: null }, ASKER, 'hold'],
    [{ ...OPEN, probeAt: at(1_000) }, { ...ASKER, isOldest: false }, 'hold'],
    [OPEN, { ...ASKER, isReleased: true, isOldest: false }, 'canary'],
    [PROBING, ASKER, 'hold'],
    [PROBING, { ...ASKER, isCanary: true }, 'pass'],
    [PROBING, { ...ASKER, isReleased: true }, 'pass'],
    [RELEASING, ASKER, 'pass'],
    [RELEASING, { ...ASKER, isWaiting: true }, 'hold'],
    [RELEASING, { ...ASKER, isWaiting: true, isReleased: true }, 'pass'],
  ] as const)('decides about admission: %j, %j: %s', (circuit, asker, answer) => {
    expect(judgeAtCircuit(circuit, asker, 1_000)).toBe(answer);
  });
});

describe('a send', () => {
  const ACCEPTED = { kind: 'accepted' } as const;
  const NONE = { kind: 'none' } as const;
  const failure = (of: FailureClass) => ({ kind: 'failure', failure: of }) as const;
  const CLOSED = { state: 'closed', failures: 0 } as const;
  const OPEN = { state: 'open', failures: 3 } as const;

  it.each<[Parameters<typeof sendEventFor>[1], boolean, SendEvidence, CircuitEvent | undefined]>([
    [OPEN, true, ACCEPTED, 'canary_succeeded'],
    [OPEN, true, failure('timeout'), 'canary_failed'],
    [OPEN, true, NONE, 'canary_lost'],
    [OPEN, true, failure('unreadable_answer'), 'canary_lost'],
    [OPEN, false, ACCEPTED, 'purchased'],
    [OPEN, false, failure('invalid_request'), 'succeeded'],
    [OPEN, false, failure('timeout'), 'failed'],
    [OPEN, false, NONE, undefined],
    [{ ...CLOSED, failures: 1 }, false, ACCEPTED, 'purchased'],
    [CLOSED, false, ACCEPTED, undefined],
    [CLOSED, false, failure('timeout'), 'failed'],
    [undefined, false, failure('timeout'), 'failed'],
    [undefined, false, ACCEPTED, undefined],
  ])(
    'at the circuit %j, as its canary: %s, with the result %j, is the event %s',
    (circuit, isCanary, result, event) => {
      expect(sendEventFor('service_down', circuit, isCanary, result)).toBe(event);
    },
  );
});
