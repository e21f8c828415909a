/**
 * Proves that an attempt cost nothing (rule 3 of docs/reference/rules.md). Silence is no evidence: a list without a
 * debit proves its absence only when the reading itself shows that the debit would be in it.
 */
import { netOf, type Movement, type MovementNames, type Purchase } from '#domain/money/books.ts';
import { compareMoney, plainText, subtractMoney, type Money } from '#domain/money/money.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { looselyNames } from '#domain/work/identifiers.ts';

/** The balance, the rows without a filter, the balance again. */
export interface WalletReading {
  /** Rises with the time of the reading. */
  readonly id: number;
  /** By the database's clock, in epoch milliseconds. */
  readonly beganAt: number;
  /** Undefined: the balance changed during the reading, or was not read. */
  readonly balance: Money | undefined;
  /** The service stated that these are all rows. */
  readonly isWhole: boolean;
  /** The earliest reading that had shown one of these rows already. */
  readonly reachesBackTo: number | undefined;
  /** As the service states it, in epoch milliseconds; undefined: it has no row. */
  readonly newestRowAt?: number | undefined;
}

export interface AbsenceFacts {
  readonly reading: WalletReading;
  /** The last reading before the first send; undefined: none, or not known. */
  readonly before: number | undefined;
  readonly currencies: readonly string[];
  readonly hadRows: boolean;
  /**
   * The newest steady reading before the first send without any of the rows since: a row that came late could stand for
   * one that is missing.
   */
  readonly base: Pick<WalletReading, 'id' | 'balance'> | undefined;
  readonly since: readonly Pick<Movement, 'direction' | 'money'>[];
  /** A debit that may be for one of the attempts, as a clause. */
  readonly suspect: string | undefined;
  /** The service's id of a debit of ours whose purchase began after these attempts had failed. */
  readonly laterDebit: string | undefined;
}

export type Absence =
  | { readonly isProven: true; readonly by: 'ledger' | 'bracket'; readonly detail: string }
  | {
      readonly isProven: false;
      readonly reason: 'suspect' | 'no_reading_before' | 'out_of_reach' | 'contradicted' | 'no_control';
      readonly detail: string;
    };

/**
 * *Ledger*: balance less sum of the rows is what it was before the first send. *Bracket*: the rows include one from
 * before the first send and a debit of ours from after it. A ledger that contradicts refuses both.
 */
export function judgeAbsence(facts: AbsenceFacts): Absence {
  const { reading, before, suspect } = facts;
  if (suspect !== undefined) return no('suspect', `The wallet shows a debit that may be for this attempt: ${suspect}.`);
  if (before === undefined)
    return no('no_reading_before', 'The wallet was not read before the first send, so nothing can be compared.');
  if (!reaches(facts, before))
    return no('out_of_reach', `${named(reading)} does not reach back to a row from before the first send.`);
  const ledger = judgeLedger(facts);
  if (ledger !== undefined) return ledger;
  const { laterDebit } = facts;
  if (laterDebit === undefined)
    return no('no_control', `${named(reading)} has no steady balance to compare, and shows no later debit of ours.`);
  return {
    isProven: true,
    by: 'bracket',
    detail:
      `The wallet shows no debit for this attempt: ${readingText(reading)} contains a row from before the first ` +
      `send and the later debit ${laterDebit}.`,
  };
}

function reaches({ reading, hadRows }: AbsenceFacts, before: number): boolean {
  if (reading.reachesBackTo !== undefined && reading.reachesBackTo <= before) return true;
  // A whole list without any row from before the send reaches back only if there was none.
  return reading.isWhole && !hadRows;
}

/** @returns undefined when the balances cannot be compared. */
function judgeLedger({ reading, base, since, currencies }: AbsenceFacts): Absence | undefined {
  const { balance } = reading;
  // A debit in another currency moves another balance.
  if (currencies.some((currency) => currency !== balance?.currency)) return undefined;
  if (balance === undefined || base?.balance === undefined || base.balance.currency !== balance.currency)
    return undefined;
  const { currency } = balance;
  const isMixed = since.some(({ money }) => money.currency !== currency);
  const moved = subtractMoney(balance, base.balance);
  const rows = netOf(since, currency);
  if (compareMoney(moved, rows) !== 0)
    return no(
      'contradicted',
      `Since the reading ${base.id}, the balance has moved by ${plainText(moved)} and the rows by ` +
        `${plainText(rows)}: a row may be missing from ${readingText(reading)}.`,
    );
  // Rows in another currency belong to another balance, where nothing is compared.
  if (isMixed) return undefined;
  return {
    isProven: true,
    by: 'ledger',
    detail:
      `The wallet shows no debit for this attempt: in ${readingText(reading)} the balance less its rows is what it ` +
      `was in the reading ${base.id}, before the first send.`,
  };
}

function no(reason: Extract<Absence, { isProven: false }>['reason'], detail: string): Absence {
  return { isProven: false, reason, detail };
}

function named(reading: WalletReading): string {
  return readingText(reading).replace('the', 'The');
}

export function readingText({ id, beganAt }: Pick<WalletReading, 'id' | 'beganAt'>): string {
  return `the reading ${id} of ${new Date(beganAt).toISOString()}`;
}

export interface DebitDelay {
  /** The longest time until a debit was shown that an earlier reading lacked; null: none was ever missing. */
  readonly longestMs: number | null;
  readonly withinMs: number | null;
}

/** @param debit.wasMissing a reading after the purchase had not shown it. */
export function withDebit(
  known: DebitDelay,
  { elapsedMs, wasMissing }: { readonly elapsedMs: number; readonly wasMissing: boolean },
): DebitDelay {
  const ms = Math.max(0, Math.round(elapsedMs));
  return wasMissing
    ? { ...known, longestMs: Math.max(known.longestMs ?? 0, ms) }
    : { ...known, withinMs: Math.min(known.withinMs ?? ms, ms) };
}

export const NO_DEBIT_SEEN: DebitDelay = { longestMs: null, withinMs: null };

/**
 * How long after a failure a reading must begin to prove an absence, in milliseconds: twice the longest time after
 * which a debit was still missing. If none was ever missing, twice the shortest time after which one was there, at
 * most the time for a kind of which nothing was seen. Never less than `settleDelayMs`.
 */
export function evidenceDelayMs(
  { settleDelayMs, unseenDebitDelayMs }: Pick<PurchasePolicy, 'settleDelayMs' | 'unseenDebitDelayMs'>,
  { longestMs, withinMs }: DebitDelay,
): number {
  if (longestMs !== null) return Math.max(settleDelayMs, 2 * longestMs);
  return Math.max(settleDelayMs, Math.min(unseenDebitDelayMs, 2 * (withinMs ?? Infinity)));
}

/** A week: older delays say nothing about the service of today. */
export const DEBIT_DELAY_KEPT_MS = 7 * 24 * 3_600_000;

export interface NamedAttempt extends Pick<Purchase, 'serviceId' | 'reference' | 'serviceEsimId'> {
  readonly fields: { readonly serviceId?: keyof MovementNames; readonly reference?: keyof MovementNames };
}

/** A debit is excluded only by a name of the same field with another value; a similar name excludes nothing. */
export function mayBeFor({ serviceId, reference, serviceEsimId, fields }: NamedAttempt, names: MovementNames): boolean {
  const given = Object.values<string | null>({ ...names }).filter((name) => name !== null);
  if (given.length === 0) return true;
  const ours = [serviceId, reference].filter((name) => name !== null);
  if (ours.some((own) => given.some((name) => looselyNames(own, name)))) return true;
  const differs = (own: string | null, field: keyof MovementNames | undefined) =>
    own !== null && field !== undefined && names[field] !== null;
  if (differs(serviceId, fields.serviceId) || differs(reference, fields.reference)) return false;
  // It names a reference of somebody else, in whichever field.
  if (names.orderReference !== null || names.subscriptionReference !== null) return reference === null;
  return !(serviceEsimId !== null && names.esimId !== null && names.esimId !== serviceEsimId);
}
