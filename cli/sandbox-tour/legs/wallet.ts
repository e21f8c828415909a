/** The product buys anew only after the wallet proves that a failed purchase cost nothing (rule 3). */
import { type Leg, type Step, until } from '#cli/sandbox-tour/leg.ts';
import { clause, noteEnd } from '#cli/sandbox-tour/observations.ts';
import type { BoughtEsim } from '#cli/sandbox-tour/purchases.ts';
import { type Absence, judgeAbsence } from '#domain/money/absence.ts';
import { type Money, equalMoney } from '#domain/money/money.ts';
import type { Listing } from '#upstream/client.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { countsInWallet, isOfOrder, movementOf } from '#upstream/mapping/wallet-movements.ts';

export interface WalletReading {
  /** Undefined: changed during the reading, or unreadable. */
  readonly balance: Money | undefined;
  readonly rows: Listing<WalletTransaction>;
  readonly beganAt: number;
}

const READS = 3;

const EVIDENCE = 'retries of failed purchases then wait for evidence';

/** A string says why the movements cannot be read. */
export async function readForProof(leg: Leg): Promise<WalletReading | string> {
  const { client, now } = leg;
  for (let n = 1; ; n += 1) {
    const beganAt = now();
    const before = await readBalance(leg);
    const rows = await client.listWalletTransactions({ isEnough: () => false });
    if (!rows.ok) return rows.kind === 'unsupported' ? 'it was not called' : clause(rows.detail);
    const after = await readBalance(leg);
    const isSteady = before !== undefined && after !== undefined && equalMoney(before, after);
    if (isSteady || n === READS) return { balance: isSteady ? after : undefined, rows: rows.value, beganAt };
  }
}

async function readBalance({ client }: Leg): Promise<Money | undefined> {
  const wallet = await client.getWallet();
  return wallet.ok ? { amount: wallet.value.balance, currency: wallet.value.currency } : undefined;
}

/** The service has shown the debits of the orders by then. */
export async function walletLeg(leg: Leg, base: WalletReading | string, orders: readonly BoughtEsim[]): Promise<void> {
  const { calls, debitSeenAfterMs } = leg.observations;
  const proof = leg.step('a proof that a purchase cost nothing', 'movements that explain the balance');
  if (calls.wallet_transactions?.kind !== 'works' || debitSeenAfterMs == null)
    return proof.skipped('the debits of the orders were not seen');
  const last = await readForProof(leg);
  const unread = (reason: string) =>
    proof.drift(`the movements cannot be read without a filter: ${reason}; ${EVIDENCE}`);
  if (typeof last === 'string') return unread(last);
  if (typeof base === 'string') return unread(base);
  const unfiltered = leg.step('the debits without a filter', 'a list that contains all of them');
  const allSeen = expectDebits(unfiltered, orders, last.rows.items, `the list is cut at one end; ${EVIDENCE}`);
  noteEnd(leg, 'GET /wallet/transactions', last.rows);
  // A list that is cut at one end is cut with a filter, too.
  if (allSeen) await lookSince(leg, orders);
  let absence = judge(base, last);
  await until(leg, async () => {
    if (absence.isProven) return true;
    const again = await readForProof(leg);
    if (typeof again !== 'string') absence = judge(base, again);
    return absence.isProven ? true : undefined;
  });
  if (absence.isProven) proof.ok('the balance moved as the movements did');
  else proof.drift(`${REASONS[absence.reason]}; ${EVIDENCE}`);
}

const REASONS: Readonly<Record<Extract<Absence, { isProven: false }>['reason'], string>> = {
  suspect: 'a debit names no purchase',
  no_reading_before: 'the wallet was not read before the orders',
  out_of_reach: 'the list does not reach back to a movement from before the orders',
  contradicted: 'the balance and the movements moved differently',
  no_control:
    'the balance cannot be compared: it changes during the reading, or movements are late or in another currency',
};

/** The rule of the product for a purchase that failed after `base`. */
function judge(base: WalletReading, last: WalletReading): Absence {
  const known = new Set(base.rows.items.map(({ id }) => id));
  const movements = last.rows.items.filter(countsInWallet).map(movementOf);
  const since = movements.filter(({ id }) => !known.has(id));
  const newestBefore = Math.max(...base.rows.items.map(({ created_at: at }) => Date.parse(at)));
  // The balance contained such a row already, so it could stand for one that is missing.
  const hasLateRow = since.some(({ occurredAt }) => occurredAt < newestBefore);
  return judgeAbsence({
    reading: {
      id: 2,
      beganAt: last.beganAt,
      balance: last.balance,
      isWhole: last.rows.complete,
      reachesBackTo: movements.some(({ id }) => known.has(id)) ? 1 : undefined,
    },
    before: 1,
    currencies: [],
    hadRows: known.size > 0,
    base: base.balance && !hasLateRow ? { id: 1, balance: base.balance } : undefined,
    since,
    suspect: undefined,
    laterDebit: undefined,
  });
}

/** A service may filter by full seconds. */
const SECOND_MS = 1_000;

/** The service states the time of the oldest debit. */
async function lookSince(leg: Leg, orders: readonly BoughtEsim[]): Promise<void> {
  const step = leg.step('the debits since their own time', 'a list that contains all of them');
  const found: WalletTransaction[] = [];
  for (const order of orders) {
    const listed = await leg.client.listWalletTransactions({ reference: order.reference });
    if (listed.ok) found.push(...debitsOf([order], listed.value.items));
  }
  const since = Math.min(...found.map(({ created_at: at }) => Date.parse(at))) - SECOND_MS;
  const listed = await leg.client.listWalletTransactions({ since });
  if (!listed.ok) return step.skipped(listed.kind === 'unsupported' ? 'it was not called' : clause(listed.detail));
  const cause = '`since` is read in another zone, or its edge is exclusive; where a service has only filtered lists, ';
  expectDebits(step, orders, listed.value.items, cause + EVIDENCE);
}

function expectDebits(
  step: Step,
  orders: readonly BoughtEsim[],
  rows: readonly WalletTransaction[],
  cause: string,
): boolean {
  const { length } = orders;
  const missing = length - debitsOf(orders, rows).length;
  return step.expect(missing === 0, missing === 0 ? `all ${length}` : `${missing} of ${length} missing: ${cause}`);
}

export function debitsOf(
  orders: readonly BoughtEsim[],
  rows: readonly WalletTransaction[],
): readonly WalletTransaction[] {
  return orders.flatMap(({ order, reference }) => {
    const named = { serviceId: order.id, reference };
    return rows.find((row) => row.type === 'debit' && isOfOrder(named, row)) ?? [];
  });
}
