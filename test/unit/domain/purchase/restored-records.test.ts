import { describe, expect, it } from 'vitest';
import {
  endedWithoutEffect,
  hasLostRecords,
  joinWitness,
  witnessOfEnd,
  type Witness,
} from '#domain/purchase/recovery.ts';
import { ATTEMPT_STATES, type AttemptState } from '#domain/relay/observation.ts';

const NEW = { number: 1, state: 'prepared', sends: 0, anyUnknown: false } as const;
const witness = (change: Partial<Witness>): Witness => ({ ...NEW, ...change });
const row = (state: AttemptState, sends: number) => ({ number: 1, state, sends });

/** Of an attempt whose last send may have bought. */
const doubt = (sends: number): Partial<Witness> => ({ sends, state: 'unknown', anyUnknown: true });
/** Of delivered work with this end. */
const bought = (ended: 'completed' | 'cancelled' | 'expired'): Partial<Witness> => ({
  sends: 1,
  state: 'completed',
  ended,
});

const TABLE: readonly [string, Partial<Witness>, ReturnType<typeof row> | undefined, boolean][] = [
  ['a lost row of an unsent attempt', {}, undefined, false],
  ['a lost row of a sent attempt', { sends: 1, state: 'refused' }, undefined, true],
  ['a lost row of an attempt that the service has', { state: 'processing' }, undefined, true],
  ['a row before its first send', doubt(1), row('prepared', 0), true],
  ['a row with fewer sends', doubt(2), row('refused', 1), true],
  ['a refused row of an attempt with a later report', { sends: 1, state: 'processing' }, row('refused', 1), true],
  ['a row that has learnt since that the same send was refused', doubt(2), row('refused', 2), false],
  ['an unknown row', { sends: 1, state: 'completed' }, row('unknown', 1), false],
  ['a row that knows as much', { sends: 1, state: 'refused' }, row('refused', 1), false],
  ['a row that knows of a send more', { sends: 1, state: 'refused' }, row('sending', 2), false],
  ['a row of an attempt that the service has', doubt(3), row('processing', 1), false],
  ['a row that a verdict has failed since', { sends: 1, state: 'processing' }, row('failed', 1), false],
  ['a failed row of a delivered attempt', bought('completed'), row('failed', 1), true],
  ['a row that failed, of a subscription that was cancelled', bought('cancelled'), row('failed', 1), true],
  ['a failed row of a subscription that has expired', bought('expired'), row('failed', 1), true],
  ['a row that is being sent', { sends: 1, state: 'completed' }, row('sending', 1), false],
  ['a refused row of an attempt that failed at the service', { sends: 1, state: 'failed' }, row('refused', 1), true],
  ['a refused row of a bought attempt', { sends: 1, state: 'completed' }, row('refused', 1), true],
  ['a row of abandoned work', { sends: 1, state: 'refused', ended: 'abandoned' }, row('prepared', 0), false],
  [
    'a row of a cancellation that was refused',
    { sends: 1, state: 'failed', ended: 'refused' },
    row('prepared', 0),
    false,
  ],
  ['a row of permanently failed work', { sends: 1, state: 'refused', ended: 'failed' }, row('prepared', 0), false],
  ['an unsent row of an earlier attempt', { number: 2, sends: 1, state: 'unknown' }, row('prepared', 0), false],
];

describe('a row after lost commits', () => {
  it.each(TABLE)('is restored correctly: %s', (_name, known, record, expected) => {
    expect(hasLostRecords(witness(known), record)).toBe(expected);
  });

  it('never counts as unsent or refused while its workflow knows of a later possible purchase', () => {
    for (const state of ATTEMPT_STATES) {
      for (const sends of [0, 1, 2, 3]) {
        const known = witness(doubt(2));
        const isDenied = state === 'prepared' || state === 'refused';
        const isRight = hasLostRecords(known, row(state, sends)) || !isDenied || sends >= 2;
        expect(isRight, `${state}, ${sends} sends`).toBe(true);
      }
    }
  });

  it('is not restored a second time', () => {
    const doubted = TABLE.filter(([, , , expected]) => expected);
    const again = doubted.map(([, known]) => hasLostRecords(witness(known), row('unknown', known.sends ?? 1)));
    expect(again).toEqual(doubted.map(() => false));
  });
});

describe('the knowledge of a workflow', () => {
  it('keeps every time and id of both sides, and adds none', () => {
    const known = witness({ firstSentAt: 5, firstUnrefusedSendAt: 6, serviceId: 'so_1' });
    expect(joinWitness(known, witness({}))).toEqual(known);
    expect(joinWitness(witness({}), known)).toEqual(known);
    const bare = joinWitness(witness({}), witness({}));
    expect(Object.keys(bare).toSorted()).toEqual(['anyUnknown', 'number', 'sends', 'state']);
    expect(bare.anyUnknown).toBe(false);
    expect(joinWitness(undefined, known)).toEqual(known);
    const later = { firstSentAt: 7, firstUnrefusedSendAt: 8, serviceId: 'so_2' };
    expect(joinWitness(known, witness(later))).toMatchObject(later);
  });

  it('is marked as restored until the service reports the purchase', () => {
    const restored = witness({ sends: 1, state: 'unknown', isRestored: true });
    expect(joinWitness(witness({ sends: 1, state: 'unknown' }), restored).isRestored).toBe(true);
    expect(joinWitness(restored, witness({ sends: 1, state: 'unknown' })).isRestored).toBe(true);
    expect(joinWitness(witness({}), witness({})).isRestored).toBeUndefined();
    for (const state of ['processing', 'completed'] as const)
      expect(joinWitness(restored, witness({ sends: 1, state })).isRestored, state).toBeUndefined();
  });

  it('keeps the sends and the doubt of an attempt, and takes the state of the new read', () => {
    const known = witness({ ...doubt(2), firstSentAt: 5, isRestored: true });
    expect(joinWitness(known, witness({ sends: 1, state: 'refused' }))).toEqual({ ...known, state: 'refused' });
  });

  it('is of the latest attempt', () => {
    const second = witness({ number: 2, sends: 0 });
    expect(joinWitness(witness({ sends: 4 }), second)).toEqual(second);
    expect(joinWitness(second, witness({ sends: 4 }))).toEqual(second);
  });

  it('marks delivered work as sent and bought, after any last read', () => {
    for (const status of ['completed', 'cancelled', 'expired'] as const) {
      expect(witnessOfEnd({ status }, undefined), status).toEqual({ ...NEW, ...bought(status) });
      const third = witnessOfEnd({ status }, witness({ number: 2, sends: 3 }));
      expect(third).toMatchObject({ number: 2, state: 'completed', sends: 3 });
    }
  });

  it('keeps the end and reason of work without effect, and its last read', () => {
    expect(witnessOfEnd({ status: 'abandoned' }, undefined)).toEqual({ ...NEW, ended: 'abandoned' });
    const known = witness({ sends: 2, state: 'refused' });
    const failed = witnessOfEnd({ status: 'failed', failure: 'deadline_passed' }, known);
    expect(failed).toEqual({ ...known, ended: 'failed', failure: 'deadline_passed' });
    for (const ended of ['failed', 'abandoned', 'refused'] as const)
      expect(endedWithoutEffect(witness({ ended }))).toBe(ended);
    expect(endedWithoutEffect(witnessOfEnd({ status: 'completed' }, undefined))).toBeUndefined();
  });
});
