import { describe, expect, it } from 'vitest';
import {
  evidenceFor,
  afterCircuitEvent,
  CIRCUIT_STATES,
  circuitNames,
  circuitSentence,
  CLOSED_CIRCUIT,
  judgeAtCircuit,
  probeDelayMs,
  type Circuit,
  type CircuitName,
} from '#domain/gate/circuit.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

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
      expect([name, evidenceFor(name, { kind: 'failure', failure: failure as FailureClass })]).toEqual([
        name,
        expected,
      ]);
      expect(evidenceFor(name, { kind: 'accepted' })).toBe('succeeded');
      expect(evidenceFor(name, { kind: 'none' })).toBe('nothing');
    }
  });

  it('has a sentence for work that it holds', () => {
    expect(CIRCUIT_STATES).toEqual(['closed', 'open', 'probing', 'releasing']);
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
  const OPEN: Circuit = { state: 'open', failures: 3, openings: 2, probeAt: 9_000, canaryUntil: null };
  const PROBING: Circuit = { ...OPEN, state: 'probing', probeAt: null, canaryUntil: 6_000 };
  const RELEASING: Circuit = { ...OPEN, state: 'releasing', failures: 0, probeAt: null };
  const again = 1_000 + probeDelayMs('service_down', 3, EXACT);
  const rows: readonly [string, Circuit, Omit<Parameters<typeof afterCircuitEvent>[2], 'now'>, Circuit][] = [
    ['counts', CLOSED_CIRCUIT, { event: 'failed' }, { ...CLOSED_CIRCUIT, failures: 1 }],
    [
      'is the last straw',
      { ...CLOSED_CIRCUIT, failures: 2 },
      { event: 'failed' },
      { ...OPEN, openings: 1, probeAt: 1_000 + probeDelayMs('service_down', 1, EXACT) },
    ],
    ['ends a row of failures', { ...CLOSED_CIRCUIT, failures: 2 }, { event: 'succeeded' }, CLOSED_CIRCUIT],
    ['changes nothing', OPEN, { event: 'failed' }, OPEN],
    ['changes nothing while a canary is out', PROBING, { event: 'succeeded' }, PROBING],
    ['changes nothing while others are released', RELEASING, { event: 'succeeded' }, RELEASING],
    ['sends a canary', OPEN, { event: 'probe_started' }, PROBING],
    ['is a sign of life', OPEN, { event: 'succeeded' }, { ...OPEN, probeAt: 1_000 }],
    ['is a late success', { ...OPEN, probeAt: 500 }, { event: 'succeeded' }, { ...OPEN, probeAt: 500 }],
    [
      'is a sign of life where no canary was planned',
      { ...OPEN, probeAt: null },
      { event: 'succeeded' },
      { ...OPEN, probeAt: 1_000 },
    ],
    ['opens it for longer', PROBING, { event: 'canary_failed' }, { ...OPEN, openings: 3, probeAt: again }],
    [
      'opens it for the Retry-After of the service',
      PROBING,
      { event: 'canary_failed', retryAfterMs: 900_000 },
      { ...OPEN, openings: 3, probeAt: 901_000 },
    ],
    [
      'opens it while others are released',
      RELEASING,
      { event: 'failed' },
      { ...RELEASING, state: 'open', openings: 3, probeAt: again },
    ],
    ['has another canary sent', PROBING, { event: 'canary_lost' }, { ...OPEN, probeAt: 2_000 }],
    ['releases other work', PROBING, { event: 'canary_succeeded' }, RELEASING],
    ['releases other work although the canary was lost', OPEN, { event: 'canary_succeeded' }, RELEASING],
    ['closes it', RELEASING, { event: 'drained' }, CLOSED_CIRCUIT],
    ['is a purchase that bypassed it', OPEN, { event: 'purchased' }, RELEASING],
    ['is a purchase that bypassed it during a canary', PROBING, { event: 'purchased' }, RELEASING],
    ['closes it on trial', OPEN, { event: 'idle' }, { ...OPEN, state: 'closed', failures: 2, probeAt: null }],
    [
      'is one failure after a trial',
      { ...OPEN, state: 'closed', failures: 2, probeAt: null },
      { event: 'failed' },
      { ...OPEN, openings: 3, probeAt: again },
    ],
    [
      'is a success after a trial',
      { ...OPEN, state: 'closed', failures: 2, probeAt: null },
      { event: 'purchased' },
      CLOSED_CIRCUIT,
    ],
  ];

  it.each(rows)('%s', (_what, before, news, after) => {
    expect(afterCircuitEvent('service_down', before, { ...news, now: 1_000 }, EXACT)).toEqual(after);
  });

  it('has the next canary sooner with shorter delays', () => {
    const { probeAt } = afterCircuitEvent(
      'service_down',
      PROBING,
      { event: 'canary_lost', now: 1_000 },
      { ...EXACT, probeDelayMs: 300 },
    );
    expect(probeAt).toBe(1_300);
  });

  const ASKER = { isCanary: false, isWaiting: false, isOldest: true, isReleased: false };
  it.each([
    [CLOSED_CIRCUIT, ASKER, 'pass'],
    [CLOSED_CIRCUIT, { ...ASKER, isWaiting: true, isOldest: false }, 'pass'],
    [{ ...OPEN, probeAt: 1_000 }, ASKER, 'canary'],
    [{ ...OPEN, probeAt: 1_001 }, ASKER, 'hold'],
    [{ ...OPEN, probeAt: null }, ASKER, 'hold'],
    [{ ...OPEN, probeAt: 1_000 }, { ...ASKER, isOldest: false }, 'hold'],
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
