import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  evidenceFor,
  sendEventFor,
  afterCircuitEvent,
  CIRCUIT_EVENTS,
  CIRCUIT_STATES,
  CIRCUIT_TABLE,
  circuitNames,
  CIRCUITS,
  CLOSED_CIRCUIT,
  isIdle,
  judgeAtCircuit,
  probeDelayMs,
  type Circuit,
  type CircuitEvent,
} from '#domain/gate/circuit.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { failureClasses, isDefinite } from '#domain/work/failure.ts';

const policy = DEFAULT_POLICY.gate;
const NOW = 1_800_000_000_000;
const name = fc.constantFrom(...circuitNames);
const events = fc.array(fc.constantFrom(...CIRCUIT_EVENTS), { maxLength: 60 });
const ordinary = { isCanary: false, isWaiting: false, isOldest: false, isReleased: false };

function play(which: (typeof circuitNames)[number], list: readonly CircuitEvent[]): Circuit {
  return list.reduce(
    (circuit, event, index) => afterCircuitEvent(which, circuit, { event, now: NOW + index * 1_000 }, policy),
    CLOSED_CIRCUIT,
  );
}

describe('a circuit of the service', () => {
  it('has a decision for every event in every state, and can leave every state', () => {
    for (const state of CIRCUIT_STATES) {
      for (const event of CIRCUIT_EVENTS) expect(CIRCUIT_TABLE[event]).toHaveProperty(state);
      const before: Circuit = {
        state,
        failures: policy.circuitFailures - 1,
        openings: 1,
        probeAt: NOW,
        canaryUntil: NOW,
      };
      const next = CIRCUIT_EVENTS.map(
        (event) => afterCircuitEvent('service_down', before, { event, now: NOW }, policy).state,
      );
      expect(next.some((after) => after !== state)).toBe(true);
    }
  });

  it('has a time for its next canary while it is open, and a lease for the canary while it probes', () => {
    fc.assert(
      fc.property(name, events, (which, list) => {
        const circuit = play(which, list);
        expect(circuit.probeAt !== null).toBe(circuit.state === 'open');
        expect(circuit.canaryUntil !== null).toBe(circuit.state === 'probing');
      }),
    );
  });

  it('closes from every state, once a canary succeeds and no work is held', () => {
    fc.assert(
      fc.property(name, events, (which, list) => {
        let circuit = play(which, list);
        for (const event of ['canary_lost', 'probe_started', 'canary_succeeded', 'drained', 'succeeded'] as const) {
          circuit = afterCircuitEvent(which, circuit, { event, now: NOW }, policy);
        }
        expect(circuit).toEqual(CLOSED_CIRCUIT);
      }),
    );
  });

  it('is never open after a purchase that it would have prevented', () => {
    fc.assert(
      fc.property(name, events, fc.boolean(), (which, list, isCanary) => {
        const before = play(which, list);
        const event = sendEventFor(which, before, isCanary && before.state === 'probing', { kind: 'accepted' });
        const after = event === undefined ? before : afterCircuitEvent(which, before, { event, now: NOW }, policy);
        expect(['closed', 'releasing']).toContain(after.state);
        expect(afterCircuitEvent(which, after, { event: 'drained', now: NOW }, policy)).toEqual(CLOSED_CIRCUIT);
      }),
    );
  });

  it('does not stay open forever without waiting and new work', () => {
    fc.assert(
      fc.property(name, events, (which, list) => {
        let circuit = play(which, list);
        let now = NOW + list.length * 1_000;
        // Like the gate loop, at each time at which an event is due.
        for (let looks = 0; looks < 4 && circuit.state !== 'closed'; looks += 1) {
          now = Math.max(now, circuit.canaryUntil ?? 0, (circuit.probeAt ?? 0) + policy.circuitIdleMs);
          const event =
            circuit.state === 'probing' ? 'canary_lost' : circuit.state === 'releasing' ? 'drained' : 'idle';
          expect(isIdle(circuit, false, now, policy)).toBe(event === 'idle');
          circuit = afterCircuitEvent(which, circuit, { event, now }, policy);
        }
        expect(circuit.state).toBe('closed');
      }),
    );
  });

  it('is idle only while it is open, long after its canary was due, without held work', () => {
    const open: Circuit = { ...CLOSED_CIRCUIT, state: 'open', probeAt: NOW };
    const due = NOW + policy.circuitIdleMs;
    expect(isIdle(open, false, due, policy)).toBe(true);
    expect(isIdle(open, false, due - 1, policy)).toBe(false);
    expect(isIdle(open, true, due, policy)).toBe(false);
    for (const state of ['closed', 'probing', 'releasing'] as const)
      expect(isIdle({ ...open, state }, false, due, policy)).toBe(false);
  });

  it('opens after the configured number of consecutive failures, and a success resets the count', () => {
    const failures = (count: number) => Array.from({ length: count }, () => 'failed' as const);
    expect(play('service_down', failures(policy.circuitFailures - 1)).state).toBe('closed');
    expect(play('service_down', failures(policy.circuitFailures)).state).toBe('open');
    expect(play('service_down', [...failures(2), 'succeeded', ...failures(2)]).state).toBe('closed');
    expect(play('not_approved', ['failed']).state).toBe('open');
  });

  it('delays longer after each failed canary, up to a limit, and never less than Retry-After', () => {
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 50 }), (which, openings) => {
        const delay = probeDelayMs(which, openings, policy);
        expect(delay).toBe(probeDelayMs(which, openings, policy));
        expect(delay).toBeGreaterThanOrEqual(Math.floor(policy.probeDelayMs * 0.8));
        expect(delay).toBeLessThanOrEqual(Math.ceil(policy.probeDelayMaxMs * 1.2));
      }),
    );
    expect(probeDelayMs('service_down', 4, policy)).toBeGreaterThan(probeDelayMs('service_down', 1, policy));
    const opened = afterCircuitEvent(
      'not_approved',
      CLOSED_CIRCUIT,
      { event: 'failed', now: NOW, retryAfterMs: 3_600_000 },
      policy,
    );
    expect(opened.probeAt).toBe(NOW + 3_600_000);
  });

  it('admits only a due canary and released work while it is open', () => {
    fc.assert(
      fc.property(
        fc.record({
          isCanary: fc.boolean(),
          isWaiting: fc.boolean(),
          isOldest: fc.boolean(),
          isReleased: fc.boolean(),
        }),
        fc.integer({ min: -10, max: 10 }),
        (asker, late) => {
          const open: Circuit = { ...CLOSED_CIRCUIT, state: 'open', probeAt: NOW };
          const answer = judgeAtCircuit(open, asker, NOW + late);
          expect(answer === 'canary').toBe(asker.isReleased || (asker.isOldest && late >= 0));
          expect(answer).not.toBe('pass');
        },
      ),
    );
    const probing: Circuit = { ...CLOSED_CIRCUIT, state: 'probing', canaryUntil: NOW };
    expect(judgeAtCircuit(probing, { ...ordinary, isOldest: true }, NOW)).toBe('hold');
    expect(judgeAtCircuit(probing, { ...ordinary, isCanary: true }, NOW)).toBe('pass');
  });

  it('holds earlier work in its turn during a release, and admits new work', () => {
    const releasing: Circuit = { ...CLOSED_CIRCUIT, state: 'releasing' };
    expect(judgeAtCircuit(releasing, { ...ordinary, isWaiting: true, isOldest: true }, NOW)).toBe('hold');
    expect(judgeAtCircuit(releasing, ordinary, NOW)).toBe('pass');
  });
});

describe('the evidence of a send for a circuit', () => {
  it('is a failure for its own classes only, and never both', () => {
    for (const which of circuitNames) {
      const own: readonly string[] = CIRCUITS[which].classes;
      for (const failure of failureClasses) {
        expect(evidenceFor(which, { kind: 'failure', failure }) === 'failed').toBe(own.includes(failure));
      }
      expect(evidenceFor(which, { kind: 'accepted' })).toBe('succeeded');
      expect(evidenceFor(which, { kind: 'none' })).toBe('nothing');
    }
  });

  it('is never a success when the presence of the service is unknown', () => {
    const unsure = failureClasses.filter(
      (failure) => !isDefinite(failure) && !['contract_drift', 'key_or_reference_used'].includes(failure),
    );
    for (const failure of unsure) {
      for (const which of circuitNames) expect(evidenceFor(which, { kind: 'failure', failure })).not.toBe('succeeded');
    }
  });
});
