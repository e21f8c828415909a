/** Rule 7. The result does not depend on the order in which facts came. A movement that has a cause keeps it. */
import {
  corrections,
  periodCause,
  slotOf,
  type Cause,
  type Entry,
  byAge,
  compare,
  namesSomething,
  ownCause,
  purchaseFinder,
  type Movement,
  type MovementNames,
  type Purchase,
} from '#domain/money/books.ts';
import {
  amountFinding,
  excessFinding,
  keptMoneyFinding,
  missingFinding,
  orphanFinding,
  type Outstanding,
  type Finding,
  type OrphanReason,
} from '#domain/money/findings.ts';
import { compareAmounts, isOtherMoney, equalMoney, type Money } from '#domain/money/money.ts';
import type { Policy } from '#domain/policy/policy.ts';

export interface Placed {
  readonly movement: Movement;
  readonly cause: Cause;
  readonly attemptId: string | null;
}

export type BooksRules = Pick<Policy['books'], 'graceMs' | 'shortestPeriodMs'>;

export interface Knowledge {
  readonly movements: readonly Movement[];
  /** Movements of these purchases that have a cause already. */
  readonly placed: readonly Placed[];
  readonly purchases: readonly Purchase[];
  readonly outstanding: readonly Outstanding[];
  /** False when the service may have movements that were not read: an absent movement then proves nothing. */
  readonly complete: boolean;
  readonly now: number;
}

type Place =
  | ({ readonly kind: 'booked' } & Placed)
  | { readonly kind: 'pending'; readonly movement: Movement }
  | { readonly kind: 'orphan'; readonly movement: Movement; readonly reason: OrphanReason };

export interface Judgement {
  readonly places: readonly Place[];
  readonly entries: readonly Entry[];
  readonly findings: readonly Finding[];
  readonly outstanding: readonly Outstanding[];
}

export function reconcile(knowledge: Knowledge, rules: BooksRules): Judgement {
  return new Reconciliation(knowledge, rules).judge();
}

interface Account {
  readonly purchase: Purchase;
  readonly placed: Placed[];
}

class Reconciliation {
  readonly #knowledge: Knowledge;
  readonly #rules: BooksRules;
  readonly #findPurchase: (names: MovementNames) => Purchase | 'unknown' | 'ambiguous';
  readonly #outstanding: Map<string, Outstanding>;
  readonly #taken: Set<string>;
  readonly #places: Place[] = [];
  readonly #entries: Entry[] = [];
  readonly #findings: Finding[] = [];

  constructor(knowledge: Knowledge, rules: BooksRules) {
    this.#knowledge = knowledge;
    this.#rules = rules;
    this.#findPurchase = purchaseFinder(knowledge.purchases);
    this.#outstanding = new Map(knowledge.outstanding.map((row) => [slotOf(row), row]));
    this.#taken = new Set(
      knowledge.placed.map(({ cause, movement }) => slotOf({ cause, direction: movement.direction })),
    );
  }

  judge(): Judgement {
    const { movements, purchases, placed } = this.#knowledge;
    const placedOf = Map.groupBy(placed, ({ attemptId }) => attemptId);
    const named = movements
      .toSorted(byAge)
      .map((movement) => ({ movement, purchase: this.#purchaseOrPlace(movement) }));
    const movementsOf = Map.groupBy(named, ({ purchase }) => purchase?.attemptId);
    for (const purchase of purchases.toSorted((one, other) => compare(one.attemptId, other.attemptId))) {
      const { attemptId } = purchase;
      const own = (movementsOf.get(attemptId) ?? []).map(({ movement }) => movement);
      this.#placeAll({ purchase, placed: [...(placedOf.get(attemptId) ?? [])] }, own);
    }
    this.#reportMissing();
    const places = this.#places.toSorted((one, other) => byAge(one.movement, other.movement));
    return { places, entries: this.#entries, findings: this.#findings, outstanding: [...this.#outstanding.values()] };
  }

  #purchaseOrPlace(movement: Movement): Purchase | undefined {
    if (!namesSomething(movement)) {
      const own = ownCause(movement);
      if (own === undefined) this.#orphan(movement, 'unnamed');
      else this.#book(movement, own, null);
      return undefined;
    }
    const found = this.#findPurchase(movement.names);
    if (typeof found !== 'string') return found;
    this.#orphan(movement, found);
    return undefined;
  }

  #placeAll(account: Account, movements: readonly Movement[]): void {
    this.#placeDebits(
      account,
      movements.filter(({ direction }) => direction === 'debit'),
    );
    for (const movement of movements) if (movement.direction === 'credit') this.#placeCredit(account, movement);
    this.#reportKept(account);
  }

  #placeDebits(account: Account, debits: readonly Movement[]): void {
    const { purchase } = account;
    const own: Cause = { kind: 'attempt', id: purchase.attemptId };
    const slot = slotOf({ cause: own, direction: 'debit' });
    const first = this.#taken.has(slot) ? undefined : this.#ownDebit(purchase, debits, slot);
    if (first !== undefined) this.#book(first, own, account);
    for (const debit of debits) {
      if (debit === first) continue;
      if (this.#isFurtherPeriod(account, debit)) {
        // It may have ended before this debit, and its end is about to be recorded.
        const mayBeLate = debit.occurredAt > (purchase.paidUntil ?? Infinity) && this.#isYoung(debit.occurredAt);
        if (mayBeLate) this.#places.push({ kind: 'pending', movement: debit });
        else this.#placePeriod(account, debit, own);
      } else this.#placeExcess(account, debit);
    }
  }

  /** The debit with the amount that the service reported, else the first. */
  #ownDebit({ work }: Purchase, debits: readonly Movement[], slot: string): Movement | undefined {
    const reported = this.#outstanding.get(slot);
    const same =
      reported === undefined || work.kind === 'vpn_subscription'
        ? undefined
        : debits.find(({ money }) => equalMoney(money, reported.money));
    return same ?? debits[0];
  }

  #isFurtherPeriod({ purchase: { work, state, endedAt }, placed }: Account, { occurredAt }: Movement): boolean {
    if (work.kind !== 'vpn_subscription' || state !== 'completed') return false;
    if (endedAt !== undefined && occurredAt > endedAt) return false;
    return placed
      .filter(({ movement, cause }) => movement.direction === 'debit' && cause.kind !== 'adjustment')
      .every(({ movement }) => Math.abs(occurredAt - movement.occurredAt) >= this.#rules.shortestPeriodMs);
  }

  /** A price may change with time, but not its unit or currency. */
  #placePeriod(account: Account, debit: Movement, first: Cause): void {
    const { purchase } = account;
    this.#book(debit, this.#nextPeriod(purchase), account);
    const cost = this.#debitOf(account, first);
    if (cost !== undefined && isOtherMoney(compareAmounts(cost, debit.money)))
      this.#findings.push(amountFinding('period', cost, debit, purchase));
  }

  /** The charge by the wallet, else by the report of the service. */
  #debitOf({ placed }: Account, cause: Cause): Money | undefined {
    return shownDebit(placed, cause)?.money ?? this.#outstanding.get(slotOf({ cause, direction: 'debit' }))?.money;
  }

  #nextPeriod({ work }: Purchase): Cause {
    for (let number = 2; ; number += 1) {
      const cause = periodCause(work.id, number);
      if (!this.#taken.has(slotOf({ cause, direction: 'debit' }))) return cause;
    }
  }

  #placeCredit(account: Account, credit: Movement): void {
    const { attemptId, state, work } = account.purchase;
    const isBought = state === 'completed';
    const cause: Cause = isBought ? { kind: 'refund', id: work.id } : { kind: 'attempt', id: attemptId };
    const isFree = !this.#taken.has(slotOf({ cause, direction: 'credit' }));
    // A debit too many is credited as an adjustment. A failed attempt gets its own debit back first.
    const isOfExcess = hasExcess(account, credit.money);
    if (isFree && !(isBought && isOfExcess)) this.#placeOwnCredit(account, credit, cause);
    else if (isOfExcess) this.#book(credit, { kind: 'adjustment', id: credit.id }, account);
    else this.#placeExcess(account, credit);
  }

  /** A failed attempt's credit must be its debit; a refund is judged with its cancellation. */
  #placeOwnCredit(account: Account, credit: Movement, cause: Cause): void {
    this.#book(credit, cause, account);
    const debit = cause.kind === 'attempt' ? this.#debitOf(account, cause) : undefined;
    if (debit !== undefined && !equalMoney(debit, credit.money))
      this.#findings.push(amountFinding('credit', debit, credit, account.purchase));
  }

  /** One movement more than expected: an adjustment, once the explanation had time to arrive. */
  #placeExcess(account: Account, movement: Movement): void {
    if (this.#isYoung(movement.occurredAt)) {
      this.#places.push({ kind: 'pending', movement });
      return;
    }
    this.#book(movement, { kind: 'adjustment', id: movement.id }, account);
    this.#findings.push(excessFinding(movement, account.purchase));
  }

  #book(movement: Movement, cause: Cause, account: Account | null): void {
    const { direction, money } = movement;
    const slot = slotOf({ cause, direction });
    const reported = this.#outstanding.get(slot);
    this.#taken.add(slot);
    this.#outstanding.delete(slot);
    const attemptId = account?.purchase.attemptId ?? null;
    this.#places.push({ kind: 'booked', movement, cause, attemptId });
    account?.placed.push({ movement, cause, attemptId });
    if (reported === undefined) {
      this.#entries.push({ direction, money, cause });
    } else if (!equalMoney(reported.money, money)) {
      this.#entries.push(...corrections(reported.money, movement));
      this.#findings.push(amountFinding('journal', reported.money, movement, account?.purchase ?? null));
    }
  }

  #orphan(movement: Movement, reason: OrphanReason): void {
    if (this.#isYoung(movement.occurredAt)) {
      this.#places.push({ kind: 'pending', movement });
      return;
    }
    this.#places.push({ kind: 'orphan', movement, reason });
    this.#findings.push(orphanFinding(reason, movement));
  }

  #reportKept({ purchase, placed }: Account): void {
    const { attemptId, state, isOver } = purchase;
    if (!isOver || (state !== 'failed' && state !== 'refused')) return;
    const cause: Cause = { kind: 'attempt', id: attemptId };
    if (this.#taken.has(slotOf({ cause, direction: 'credit' }))) return;
    const debit = shownDebit(placed, cause);
    if (debit === undefined || this.#isYoung(debit.occurredAt)) return;
    this.#findings.push(keptMoneyFinding(debit, purchase));
  }

  #reportMissing(): void {
    if (!this.#knowledge.complete) return;
    for (const row of this.#outstanding.values()) {
      if (this.#isYoung(row.recordedAt)) continue;
      this.#findings.push(missingFinding(row));
    }
  }

  #isYoung(time: number): boolean {
    return time > this.#knowledge.now - this.#rules.graceMs;
  }
}

function shownDebit(placed: readonly Placed[], { kind, id }: Cause): Movement | undefined {
  const isIts = ({ cause, movement }: Placed) =>
    cause.kind === kind && cause.id === id && movement.direction === 'debit';
  return placed.find(isIts)?.movement;
}

function hasExcess({ placed }: Account, money: Money): boolean {
  const adjusted = placed.filter(
    ({ cause, movement }) => cause.kind === 'adjustment' && equalMoney(movement.money, money),
  );
  const debits = adjusted.filter(({ movement }) => movement.direction === 'debit').length;
  return debits > adjusted.length - debits;
}
