/**
 * What every movement of the service's wallet is for (rule 7 of the design). Pure: what came of it depends on what is
 * known, not on the order in which it came, and what has its place keeps it.
 */
import { slotOf, periodCause, type Cause, type Direction, type Entry, type FindingKind } from '#domain/money/books.ts';
import { compareMoney, equalMoney, negateMoney, subtractMoney, type Money } from '#domain/money/money.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { KINDS, type WorkRef } from '#domain/work/work.ts';

/** What a movement says it is for; null where it says nothing. */
export interface MovementNames {
  readonly orderId: string | null;
  readonly orderReference: string | null;
  readonly topupId: string | null;
  readonly subscriptionId: string | null;
  readonly subscriptionReference: string | null;
  readonly esimId: string | null;
}

/** One movement of the service's wallet. */
export interface Movement {
  /** The service's id of it. */
  readonly id: string;
  readonly direction: Direction;
  readonly money: Money;
  /** The service's word for it: `order`, `refund`, `deposit`, … */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  readonly names: MovementNames;
}

/** An attempt of ours, as the books see it. */
export interface Purchase {
  readonly attemptId: string;
  readonly work: WorkRef;
  readonly reference: string | null;
  readonly serviceId: string | null;
  readonly serviceEsimId: string | null;
  readonly state: AttemptState;
  /** Nothing of ours looks into its costs any more: it is settled, superseded, or its work has ended. */
  readonly isOver: boolean;
  /** When a subscription ended, in epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** The id under which a refund of it is booked. */
  readonly refundId: string;
}

/** A movement that has its place. */
export interface Placed {
  readonly movement: Movement;
  readonly cause: Cause;
  readonly attemptId: string | null;
}

/** A row of the journal for which the service has shown no movement yet. */
export interface Awaited extends Entry {
  /** Epoch milliseconds. */
  readonly recordedAt: number;
  readonly work?: WorkRef | undefined;
  readonly attemptId?: string | undefined;
}

export interface BooksRules {
  /** A movement younger than this is not judged where its cause is not known; nor is a row that awaits its movement. */
  readonly graceMs: number;
  /** Two debits of one subscription within this are one too many; further apart they are two periods. */
  readonly shortestPeriodMs: number;
}

export interface Knowledge {
  /** Movements without a place. */
  readonly movements: readonly Movement[];
  /** Movements that have their place already, of the purchases below. */
  readonly placed: readonly Placed[];
  readonly purchases: readonly Purchase[];
  /** All rows of the journal that no movement was matched to. */
  readonly awaited: readonly Awaited[];
  /** False when the service may have movements that were not read: then absence proves nothing. */
  readonly complete: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Finding {
  readonly kind: FindingKind;
  /** A sentence. */
  readonly detail: string;
  /** The service's id of the movement that it is about. */
  readonly movementId?: string;
  readonly work?: WorkRef;
  readonly attemptId?: string;
  readonly direction?: Direction;
  readonly money?: Money;
}

/** Why a movement has no cause here. */
export type OrphanReason = 'unnamed' | 'unknown' | 'ambiguous';

/** Where a movement belongs: every one is in exactly one of these. */
export type Place =
  | { readonly kind: 'booked'; readonly movement: Movement; readonly cause: Cause; readonly attemptId: string | null }
  /** Too young to be judged. */
  | { readonly kind: 'pending'; readonly movement: Movement }
  | { readonly kind: 'orphan'; readonly movement: Movement; readonly why: OrphanReason };

export interface Judgement {
  readonly places: readonly Place[];
  /** Rows that the journal lacks. */
  readonly entries: readonly Entry[];
  readonly findings: readonly Finding[];
  /** Rows of the journal that no movement was matched to, now as before. */
  readonly awaited: readonly Awaited[];
}

/** Finds the one cause of each movement, what the journal lacks, and what a person should know. */
export function reconcile(knowledge: Knowledge, rules: BooksRules): Judgement {
  return new Reconciliation(knowledge, rules).judge();
}

/** A purchase and what has its place with it, now and before. */
interface Account {
  readonly purchase: Purchase;
  readonly placed: Placed[];
}

class Reconciliation {
  readonly #knowledge: Knowledge;
  readonly #rules: BooksRules;
  readonly #find: (names: MovementNames) => Purchase | 'unknown' | 'ambiguous';
  readonly #awaited: Map<string, Awaited>;
  readonly #taken: Set<string>;
  readonly #places: Place[] = [];
  readonly #entries: Entry[] = [];
  readonly #findings: Finding[] = [];

  constructor(knowledge: Knowledge, rules: BooksRules) {
    this.#knowledge = knowledge;
    this.#rules = rules;
    this.#find = finder(knowledge.purchases);
    this.#awaited = new Map(knowledge.awaited.map((row) => [slotOf(row), row]));
    this.#taken = new Set(
      knowledge.placed.map(({ cause, movement }) => slotOf({ cause, direction: movement.direction })),
    );
  }

  judge(): Judgement {
    const { movements, purchases, placed } = this.#knowledge;
    const placedOf = Map.groupBy(placed, ({ attemptId }) => attemptId);
    const movementsOf = new Map<string, Movement[]>();
    for (const movement of movements.toSorted(byAge)) {
      const purchase = this.#purchaseOrPlace(movement);
      if (purchase === undefined) continue;
      const known = movementsOf.get(purchase.attemptId);
      if (known === undefined) movementsOf.set(purchase.attemptId, [movement]);
      else known.push(movement);
    }
    for (const purchase of purchases.toSorted((one, other) => compare(one.attemptId, other.attemptId))) {
      const { attemptId } = purchase;
      this.#placeAll({ purchase, placed: [...(placedOf.get(attemptId) ?? [])] }, movementsOf.get(attemptId) ?? []);
    }
    this.#reportMissing();
    const places = this.#places.toSorted((one, other) => byAge(one.movement, other.movement));
    return { places, entries: this.#entries, findings: this.#findings, awaited: [...this.#awaited.values()] };
  }

  /** Places what is for no purchase. @returns the purchase that it is for, otherwise. */
  #purchaseOrPlace(movement: Movement): Purchase | undefined {
    if (!namesSomething(movement)) {
      const own = ownCause(movement);
      if (own === undefined) this.#orphan(movement, 'unnamed');
      else this.#book(movement, own, null);
      return undefined;
    }
    const found = this.#find(movement.names);
    if (typeof found !== 'string') return found;
    this.#orphan(movement, found);
    return undefined;
  }

  #placeAll(account: Account, movements: readonly Movement[]): void {
    for (const direction of ['debit', 'credit'] as const) {
      const own = movements.filter((movement) => movement.direction === direction);
      if (direction === 'debit') this.#placeDebits(account, own);
      else for (const credit of own) this.#placeCredit(account, credit);
    }
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
      if (this.#isFurtherPeriod(account, debit)) this.#book(debit, this.#nextPeriod(purchase), account);
      else this.#placeExcess(account, debit, 'debited_twice');
    }
  }

  /** The debit that the attempt itself made: the first, unless a later one is of the very amount that we were told. */
  #ownDebit({ work }: Purchase, debits: readonly Movement[], slot: string): Movement | undefined {
    const told = this.#awaited.get(slot);
    const same =
      told === undefined || work.kind === 'vpn_subscription'
        ? undefined
        : debits.find(({ money }) => equalMoney(money, told.money));
    return same ?? debits[0];
  }

  #isFurtherPeriod({ purchase: { work, state, endedAt }, placed }: Account, { occurredAt }: Movement): boolean {
    if (work.kind !== 'vpn_subscription' || state !== 'completed') return false;
    if (endedAt !== undefined && occurredAt > endedAt) return false;
    return placed
      .filter(({ movement, cause }) => movement.direction === 'debit' && cause.kind !== 'adjustment')
      .every(({ movement }) => Math.abs(occurredAt - movement.occurredAt) >= this.#rules.shortestPeriodMs);
  }

  #nextPeriod({ work }: Purchase): Cause {
    for (let number = 2; ; number += 1) {
      const cause = periodCause(work.id, number);
      if (!this.#taken.has(slotOf({ cause, direction: 'debit' }))) return cause;
    }
  }

  #placeCredit(account: Account, credit: Movement): void {
    const { attemptId, state, refundId } = account.purchase;
    const isBought = state === 'completed';
    const cause: Cause = isBought ? { kind: 'refund', id: refundId } : { kind: 'attempt', id: attemptId };
    const isFree = !this.#taken.has(slotOf({ cause, direction: 'credit' }));
    // What was debited once too often comes back as such. Of a failed attempt the debit of its own comes back first.
    const isOfExcess = hasExcess(account, credit.money);
    if (isFree && !(isBought && isOfExcess)) this.#book(credit, cause, account);
    else if (isOfExcess) this.#book(credit, { kind: 'adjustment', id: credit.id }, account);
    else this.#placeExcess(account, credit, 'credited_twice');
  }

  /** One more than there should be: an adjustment, once there was time for what would explain it. */
  #placeExcess(account: Account, movement: Movement, kind: 'debited_twice' | 'credited_twice'): void {
    const { purchase } = account;
    if (this.#isYoung(movement.occurredAt)) {
      this.#places.push({ kind: 'pending', movement });
      return;
    }
    this.#book(movement, { kind: 'adjustment', id: movement.id }, account);
    const noun = KINDS[purchase.work.kind].noun;
    const after = purchase.endedAt !== undefined && movement.occurredAt > purchase.endedAt ? ', which had ended' : '';
    const detail =
      kind === 'debited_twice'
        ? `The service debited ${text(movement.money)} once more for ${noun} ${purchase.work.id}${after}.`
        : `The service credited ${text(movement.money)} once more for ${noun} ${purchase.work.id}.`;
    this.#findings.push({ kind, detail, ...about(movement, purchase) });
  }

  #book(movement: Movement, cause: Cause, account: Account | null): void {
    const { direction, money } = movement;
    const slot = slotOf({ cause, direction });
    const told = this.#awaited.get(slot);
    this.#taken.add(slot);
    this.#awaited.delete(slot);
    const attemptId = account?.purchase.attemptId ?? null;
    this.#places.push({ kind: 'booked', movement, cause, attemptId });
    account?.placed.push({ movement, cause, attemptId });
    if (told === undefined) {
      this.#entries.push({ direction, money, cause });
    } else if (!equalMoney(told.money, money)) {
      this.#entries.push(...corrections(told.money, movement));
      const detail = `The service moved ${text(money)}; our journal had ${text(told.money)}.`;
      this.#findings.push({ kind: 'amount_differs', detail, ...about(movement, account?.purchase ?? null) });
    }
  }

  #orphan(movement: Movement, why: OrphanReason): void {
    if (this.#isYoung(movement.occurredAt)) {
      this.#places.push({ kind: 'pending', movement });
      return;
    }
    this.#places.push({ kind: 'orphan', movement, why });
    const detail = `A ${movement.direction} of ${text(movement.money)} ${ORPHANS[why]}.`;
    this.#findings.push({
      kind: why === 'unnamed' ? 'unnamed_movement' : 'orphan_movement',
      detail,
      ...about(movement, null),
    });
  }

  /** Money that was taken for what came to nothing and was not given back. */
  #reportKept({ purchase, placed }: Account): void {
    const { attemptId, state, isOver, work } = purchase;
    if (!isOver || (state !== 'failed' && state !== 'refused')) return;
    const cause: Cause = { kind: 'attempt', id: attemptId };
    if (this.#taken.has(slotOf({ cause, direction: 'credit' }))) return;
    const debit = placed.find((each) => sameCause(each.cause, cause) && each.movement.direction === 'debit')?.movement;
    if (debit === undefined || this.#isYoung(debit.occurredAt)) return;
    const detail = `The service keeps ${text(debit.money)} for an attempt of ${KINDS[work.kind].noun} ${work.id} that came to nothing.`;
    this.#findings.push({ kind: 'debited_for_nothing', detail, ...about(debit, purchase) });
  }

  #reportMissing(): void {
    if (!this.#knowledge.complete) return;
    for (const row of this.#awaited.values()) {
      if (this.#isYoung(row.recordedAt)) continue;
      const { direction, money, work, attemptId, cause } = row;
      this.#findings.push({
        kind: 'movement_missing',
        detail: `Our journal has a ${direction} of ${text(money)} for ${cause.kind} ${cause.id}, and the service shows none.`,
        direction,
        money,
        ...(work !== undefined && { work }),
        ...(attemptId !== undefined && { attemptId }),
      });
    }
  }

  #isYoung(time: number): boolean {
    return time > this.#knowledge.now - this.#rules.graceMs;
  }
}

const ORPHANS = {
  unnamed: 'does not say what it is for',
  unknown: 'is for something that is not ours',
  ambiguous: 'names two different purchases of ours',
} as const satisfies Record<OrphanReason, string>;

/** Finds the one purchase that a movement names. */
function finder(purchases: readonly Purchase[]): (names: MovementNames) => Purchase | 'unknown' | 'ambiguous' {
  const index = new Map<string, Purchase>();
  for (const purchase of purchases) {
    const { work, serviceId, reference, serviceEsimId } = purchase;
    if (serviceId !== null) index.set(`${work.kind} id ${serviceId}`, purchase);
    if (reference !== null) index.set(`${work.kind} reference ${reference}`, purchase);
    if (work.kind === 'order' && serviceEsimId !== null) index.set(`esim ${serviceEsimId}`, purchase);
  }
  return (names) => {
    const keys = keysOf(names);
    const found = new Set(keys.flatMap((key) => index.get(key) ?? []));
    const [purchase] = found;
    if (purchase === undefined) return 'unknown';
    return found.size === 1 ? purchase : 'ambiguous';
  };
}

/** The most telling names first: a top-up may name the order of its eSIM besides, a refund only the eSIM. */
function keysOf(names: MovementNames): string[] {
  const { orderId, orderReference, topupId, subscriptionId, subscriptionReference, esimId } = names;
  const key = (kind: string, name: string | null) => (name === null ? [] : [`${kind} ${name}`]);
  if (topupId !== null) return key('topup id', topupId);
  const subscription = [
    ...key('vpn_subscription id', subscriptionId),
    ...key('vpn_subscription reference', subscriptionReference),
  ];
  if (subscription.length > 0) return subscription;
  const order = [...key('order id', orderId), ...key('order reference', orderReference)];
  return order.length > 0 ? order : key('esim', esimId);
}

function namesSomething({ names }: Movement): boolean {
  return Object.values(names).some((name) => name !== null);
}

/** Words that a service uses for what is no purchase; assumed, like the field itself. */
const ADJUSTMENT_WORDS: ReadonlySet<string> = new Set(['adjustment', 'correction']);

/** The cause of what names no purchase and says what it is. */
function ownCause({ id, direction, reason }: Movement): Cause | undefined {
  if (reason === 'deposit' && direction === 'credit') return { kind: 'deposit', id };
  return ADJUSTMENT_WORDS.has(reason) ? { kind: 'adjustment', id } : undefined;
}

/** The journal is only ever added to: a wrong amount is put right by the difference. */
function corrections(told: Money, { id, direction, money }: Movement): Entry[] {
  const cause: Cause = { kind: 'adjustment', id };
  if (told.currency !== money.currency) {
    return [
      { direction: opposite(direction), money: told, cause },
      { direction, money, cause },
    ];
  }
  const difference = subtractMoney(money, told);
  const isMore = compareMoney(money, told) > 0;
  return [
    isMore
      ? { direction, money: difference, cause }
      : { direction: opposite(direction), money: negateMoney(difference), cause },
  ];
}

function opposite(direction: Direction): Direction {
  return direction === 'debit' ? 'credit' : 'debit';
}

function about({ id, direction, money }: Movement, purchase: Purchase | null): Omit<Finding, 'kind' | 'detail'> {
  return {
    movementId: id,
    direction,
    money,
    ...(purchase !== null && { work: purchase.work, attemptId: purchase.attemptId }),
  };
}

/** True when more of this amount was debited as one too many than has come back. */
function hasExcess({ placed }: Account, money: Money): boolean {
  const adjusted = placed.filter(
    ({ cause, movement }) => cause.kind === 'adjustment' && equalMoney(movement.money, money),
  );
  const debits = adjusted.filter(({ movement }) => movement.direction === 'debit').length;
  return debits > adjusted.length - debits;
}

function sameCause(one: Cause, other: Cause): boolean {
  return one.kind === other.kind && one.id === other.id;
}

function byAge(one: Movement, other: Movement): number {
  return one.occurredAt - other.occurredAt || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function text({ amount, currency }: Money): string {
  return `${amount} ${currency}`;
}
