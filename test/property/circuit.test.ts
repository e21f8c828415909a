import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterCircuitEvent,
  answerAtCircuit,
  CIRCUIT_EVENTS,
  CIRCUIT_STATES,
  CIRCUIT_TABLE,
  CIRCUITS,
  circuitNames,
  CLOSED_CIRCUIT,
  evidenceFor,
  probeDelayMs,
  type Circuit,
  type CircuitEvent,
} from '#domain/circuit.ts';
import { failureClasses, isDefinite } from '#domain/failure.ts';
import { DEFAULT_POLICY } from '#domain/policy.ts';

const policy = DEFAULT_POLICY.gate;
const NOW = 1_800_000_000_000;
const name = fc.constantFrom(...circuitNames);
const events = fc.array(fc.constantFrom(...CIRCUIT_EVENTS), { maxLength: 60 });
const nobody = { isCanary: false, isWaiting: false, isOldest: false, isReleased: false };

function play(which: (typeof circuitNames)[number], list: readonly CircuitEvent[]): Circuit {
  return list.reduce((circuit, event, index) => afterCircuitEvent(which, circuit, { event, now: NOW + index * 1_000 }, policy), CLOSED_CIRCUIT);
}

describe('a circuit of the service', () => {
  it('has a decision for every event in every state, and every state a way out', () => {
    for (const state of CIRCUIT_STATES) {
      expect(Object.keys(CIRCUIT_TABLE[state]).toSorted()).toEqual(CIRCUIT_EVENTS.toSorted());
      const before: Circuit = { state, failures: policy.circuitFailures - 1, openings: 1, probeAt: NOW, canaryUntil: NOW };
      const next = CIRCUIT_EVENTS.map((event) => afterCircuitEvent('service_down', before, { event, now: NOW }, policy).state);
      expect(next.some((after) => after !== state)).toBe(true);
    }
  });

  it('has a time for its next canary whenever it is open, and an end for the canary whenever one is under way', () => {
    fc.assert(
      fc.property(name, events, (which, list) => {
        const circuit = play(which, list);
        expect(circuit.probeAt !== null).toBe(circuit.state === 'open');
        expect(circuit.canaryUntil !== null).toBe(circuit.state === 'probing');
      }),
    );
  });

  it('comes back to closed from wherever it is, once a canary succeeds and nobody is held any more', () => {
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

  it('opens after so many failures in a row and not before; a success begins the count anew', () => {
    const failures = (count: number) => Array.from({ length: count }, () => 'failed' as const);
    expect(play('service_down', failures(policy.circuitFailures - 1)).state).toBe('closed');
    expect(play('service_down', failures(policy.circuitFailures)).state).toBe('open');
    expect(play('service_down', [...failures(2), 'succeeded', ...failures(2)]).state).toBe('closed');
    expect(play('not_approved', ['failed']).state).toBe('open');
  });

  it('waits longer after each canary that fails, up to a ceiling, and never less than the service asked for', () => {
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 50 }), (which, openings) => {
        const delay = probeDelayMs(which, openings, policy);
        expect(delay).toBe(probeDelayMs(which, openings, policy));
        expect(delay).toBeGreaterThanOrEqual(Math.floor(policy.probeDelayMs * 0.8));
        expect(delay).toBeLessThanOrEqual(Math.ceil(policy.probeDelayMaxMs * 1.2));
      }),
    );
    expect(probeDelayMs('service_down', 4, policy)).toBeGreaterThan(probeDelayMs('service_down', 1, policy));
    const opened = afterCircuitEvent('not_approved', CLOSED_CIRCUIT, { event: 'failed', now: NOW, retryAfterMs: 3_600_000 }, policy);
    expect(opened.probeAt).toBe(NOW + 3_600_000);
  });

  it('lets nobody through while it is open but a canary at its time, and whom an operator releases', () => {
    fc.assert(
      fc.property(
        fc.record({ isCanary: fc.boolean(), isWaiting: fc.boolean(), isOldest: fc.boolean(), isReleased: fc.boolean() }),
        fc.integer({ min: -10, max: 10 }),
        (asker, late) => {
          const open: Circuit = { ...CLOSED_CIRCUIT, state: 'open', probeAt: NOW };
          const answer = answerAtCircuit(open, asker, NOW + late);
          expect(answer === 'canary').toBe(asker.isReleased || (asker.isOldest && late >= 0));
          expect(answer).not.toBe('pass');
        },
      ),
    );
    const probing: Circuit = { ...CLOSED_CIRCUIT, state: 'probing', canaryUntil: NOW };
    expect(answerAtCircuit(probing, { ...nobody, isOldest: true }, NOW)).toBe('hold');
    expect(answerAtCircuit(probing, { ...nobody, isCanary: true }, NOW)).toBe('pass');
  });

  it('keeps those that were held in their turn while they are released, and lets new ones pass', () => {
    const releasing: Circuit = { ...CLOSED_CIRCUIT, state: 'releasing' };
    expect(answerAtCircuit(releasing, { ...nobody, isWaiting: true, isOldest: true }, NOW)).toBe('hold');
    expect(answerAtCircuit(releasing, nobody, NOW)).toBe('pass');
  });
});

describe('what a send says of a circuit', () => {
  it('is its failure for its own classes only, and never both', () => {
    for (const which of circuitNames) {
      const own: readonly string[] = CIRCUITS[which].classes;
      for (const failure of failureClasses) {
        expect(evidenceFor(which, { kind: 'failure', failure }) === 'failed').toBe(own.includes(failure));
      }
      expect(evidenceFor(which, { kind: 'accepted' })).toBe('succeeded');
      expect(evidenceFor(which, { kind: 'none' })).toBe('nothing');
    }
  });

  it('is never that it is well, when nobody knows whether the service was there', () => {
    const unsure = failureClasses.filter((failure) => !isDefinite(failure) && !['contract_drift', 'key_or_reference_known'].includes(failure));
    for (const failure of unsure) {
      for (const which of circuitNames) expect(evidenceFor(which, { kind: 'failure', failure })).not.toBe('succeeded');
    }
  });
});
