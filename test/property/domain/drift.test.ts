import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterDrift,
  afterLook,
  afterReleaseByDocument,
  afterSend,
  afterStart,
  judgeAtDriftStop,
  NO_DRIFT_STOP,
  type CanaryFate,
  type DriftStop,
} from '#domain/gate/drift.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { assertForAll } from '#test/support/for-all.ts';

const GATE_POLICY = DEFAULT_POLICY.gate;

const FATES = { drifts: 'pending', whole: 'whole', fails: 'passed_on', silent: 'pending' } as const;
type End = keyof typeof FATES;

/** Purchases of some products arrive one after the other; the service decides about each. */
type Move =
  | { readonly move: 'buy'; readonly product: number; readonly end: End }
  | { readonly move: 'wait'; readonly ms: number }
  | { readonly move: 'start' | 'repair' };

const buying = (products: number, ...ends: readonly End[]) =>
  fc.record({
    move: fc.constant('buy' as const),
    product: fc.integer({ min: 1, max: products }),
    end: fc.constantFrom(...ends),
  });
const waiting = fc.record({ move: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 1_200_000 }) });
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: buying(3, 'drifts', 'whole', 'fails', 'silent') },
  { weight: 2, arbitrary: waiting },
  { weight: 1, arbitrary: fc.constantFrom({ move: 'start' as const }, { move: 'repair' as const }) },
);

/** What happened on a line. */
class Run {
  line: DriftStop;
  now = 1;
  /** Drifted purchases that are not whole. */
  parked: { readonly id: string; readonly product: number }[] = [];
  readonly #fates = new Map<string, CanaryFate>();

  constructor(line: DriftStop) {
    this.line = line;
  }

  take(move: Move): void {
    this.now += 1;
    switch (move.move) {
      case 'wait':
        this.now += move.ms;
        break;
      case 'start':
        this.line = afterStart(this.line);
        break;
      case 'repair':
        this.parked = [];
        break;
      case 'buy':
        this.#buy(move);
    }
    const parkedProducts = new Set(this.parked.map(({ product }) => product));
    const facts = { fates: this.#fates, parkedProducts, unprovenProducts: new Set<number>() };
    this.line = afterLook(this.line, facts, this.now, GATE_POLICY);
  }

  #buy({ product, end }: Extract<Move, { move: 'buy' }>): void {
    const id = `p${this.now}`;
    const candidate = { id, product, mayHaveBought: false, isFirst: true };
    const answer = judgeAtDriftStop(this.line, candidate, this.now, GATE_POLICY);
    if (answer === 'hold') return;
    this.#fates.set(id, FATES[end]);
    if (answer === 'canary') this.line = afterSend(this.line, { id, product }, this.now);
    if (end !== 'drifts') return;
    this.parked.push({ id, product });
    this.line = afterDrift(this.line, { id, product, begunAt: this.now }, this.now);
  }
}

const runs = fc.tuple(fc.boolean(), fc.array(moves, { maxLength: 60 })).map(([byDocument, list]) => {
  const run = new Run(byDocument ? afterReleaseByDocument(NO_DRIFT_STOP) : NO_DRIFT_STOP);
  for (const move of list) run.take(move);
  return run;
});

describe('a line', () => {
  it('loses at most two purchases in a row while nothing is repaired and nobody starts it', () => {
    assertForAll(fc.array(buying(9, 'drifts'), { maxLength: 40 }), (list) => {
      const run = new Run(NO_DRIFT_STOP);
      for (const move of list) run.take(move);
      expect(run.parked.length).toBeLessThanOrEqual(2);
    });
  });

  it('opens again after a repair, with one whole purchase', () => {
    assertForAll(runs, (run) => {
      run.take({ move: 'repair' });
      run.take({ move: 'wait', ms: GATE_POLICY.driftCanaryMs });
      if (run.line.canaries.length >= GATE_POLICY.driftCanaries) return;
      run.take({ move: 'buy', product: 1, end: 'whole' });
      expect(run.line).toEqual(NO_DRIFT_STOP);
    });
  });
});
