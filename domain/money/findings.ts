import type { Direction, Entry, FindingKind, Movement, Purchase } from '#domain/money/books.ts';
import { compareAmounts, type AmountComparison, type Money } from '#domain/money/money.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

export interface Finding {
  readonly kind: FindingKind;
  readonly detail: string;
  readonly movementId?: string;
  readonly work?: WorkRef;
  readonly attemptId?: string;
  readonly direction?: Direction;
  readonly money?: Money;
  readonly comparison?: AmountComparison;
}

export interface Outstanding extends Entry {
  readonly recordedAt: number;
  readonly work?: WorkRef | undefined;
  readonly attemptId?: string | undefined;
}

export type OrphanReason = keyof typeof ORPHANS;

const ORPHANS = {
  unnamed: 'names no purchase',
  unknown: 'names a purchase that is not ours',
  ambiguous: 'names two different purchases of ours',
} as const;

export function excessFinding(movement: Movement, purchase: Purchase): Finding {
  const { work, endedAt } = purchase;
  const isDebit = movement.direction === 'debit';
  const after = isDebit && endedAt !== undefined && movement.occurredAt > endedAt ? ', which had ended' : '';
  const subject = `${KINDS[work.kind].noun} ${work.id}${after}`;
  const detail = `The service ${movement.direction}ed ${text(movement.money)} once more for ${subject}.`;
  return { kind: isDebit ? 'debited_twice' : 'credited_twice', detail, ...about(movement, purchase) };
}

const AMOUNTS = {
  journal: (moved: string, expected: string) => `The service moved ${moved}; our journal had ${expected}.`,
  period: (moved: string, expected: string) =>
    `The service debited ${moved} for a later period; the first one cost ${expected}.`,
  credit: (moved: string, expected: string) =>
    `The service credited ${moved} for a failed attempt; its debit was ${expected}.`,
} as const;

/** Expected is the amount in our journal, that of the first period, or the debit of the failed attempt. */
export function amountFinding(
  than: keyof typeof AMOUNTS,
  expected: Money,
  movement: Movement,
  purchase: Purchase | null,
): Finding {
  const detail = AMOUNTS[than](text(movement.money), text(expected));
  const comparison = compareAmounts(expected, movement.money);
  return { kind: 'amount_differs', detail, comparison, ...about(movement, purchase) };
}

export function orphanFinding(reason: OrphanReason, movement: Movement): Finding {
  const detail = `A ${movement.direction} of ${text(movement.money)} ${ORPHANS[reason]}.`;
  return { kind: reason === 'unnamed' ? 'unnamed_movement' : 'orphan_movement', detail, ...about(movement, null) };
}

export function keptMoneyFinding(debit: Movement, purchase: Purchase): Finding {
  const { work } = purchase;
  const detail = `The service keeps ${text(debit.money)} for a failed attempt of ${KINDS[work.kind].noun} ${work.id}.`;
  return { kind: 'charge_not_refunded', detail, ...about(debit, purchase) };
}

export function missingFinding({ direction, money, work, attemptId, cause }: Outstanding): Finding {
  return {
    kind: 'movement_missing',
    detail:
      `Our journal has a ${direction} of ${text(money)} for ${cause.kind} ${cause.id}, ` +
      'and the service shows none.',
    direction,
    money,
    ...(work !== undefined && { work }),
    ...(attemptId !== undefined && { attemptId }),
  };
}

function about({ id, direction, money }: Movement, purchase: Purchase | null): Omit<Finding, 'kind' | 'detail'> {
  return {
    movementId: id,
    direction,
    money,
    ...(purchase !== null && { work: purchase.work, attemptId: purchase.attemptId }),
  };
}

function text({ amount, currency }: Money): string {
  return `${amount} ${currency}`;
}
