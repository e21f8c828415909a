import Big from 'big.js';
import type * as z from 'zod';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { CURRENCY } from '#simulator/catalogue.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Movement, MovementSubject } from '#simulator/store/rows.ts';
import type { Environment, ListOrder, Page } from '#simulator/store/store.ts';
import { wireTransaction } from '#simulator/wire.ts';
import type { walletTransaction } from '#upstream/contract.ts';

/** Another currency than that of the prices does not change the balance. */
type NewMovement = MovementSubject & Pick<Movement, 'reason'> & { readonly currency?: string };

const OF_ANOTHER_SYSTEM = 'another_system';
const SECOND_CURRENCY = 'EUR';

/** Exact; each movement records the balance after it. */
export function balanceOf({ store }: Simulation, environment: Environment, currency = CURRENCY): string {
  const [last] = store.rows(
    'ledger',
    'WHERE environment = :environment AND currency = :currency ORDER BY sequence DESC LIMIT 1',
    { environment, currency },
  );
  return last?.balance_after ?? '0.00';
}

/** Without the debits that the dialect still hides. */
export function visibleBalance(simulation: Simulation, environment: Environment): string {
  const { store, clock, dialect } = simulation;
  const balance = balanceOf(simulation, environment);
  if (dialect.debits_visible_after_ms === 0) return balance;
  const hidden = store.rows(
    'ledger',
    `WHERE environment = :environment AND currency = :currency AND type = 'debit' AND created_at > :after`,
    { environment, currency: CURRENCY, after: clock.now() - dialect.debits_visible_after_ms },
  );
  return plain(hidden.reduce((total, { amount }) => total.plus(amount), new Big(balance)));
}

export function covers(simulation: Simulation, environment: Environment, price: string): boolean {
  return new Big(balanceOf(simulation, environment)).gte(price);
}

/** Check a debit with {@link covers} first. */
export function move(
  simulation: Simulation,
  environment: Environment,
  type: Movement['type'],
  amount: string,
  { currency = CURRENCY, ...movement }: NewMovement,
): void {
  const { store, identifiers, clock } = simulation;
  store.transaction(() => {
    const before = new Big(balanceOf(simulation, environment, currency));
    store.insert('ledger', {
      id: identifiers.id('ledger', store.nextSequence('ledger')),
      environment,
      type,
      amount,
      currency,
      balance_after: plain(type === 'debit' ? before.minus(amount) : before.plus(amount)),
      ...movement,
      created_at: clock.now(),
    });
  });
}

/** Another system spends a cent, at most once in the time that the dialect says. */
function moveForOthers(simulation: Simulation, environment: Environment): void {
  const { store, clock, dialect } = simulation;
  const [before] = store.rows(
    'ledger',
    'WHERE environment = :environment AND reason = :reason ORDER BY sequence DESC LIMIT 1',
    { environment, reason: OF_ANOTHER_SYSTEM },
  );
  const { wallet_others_move_ms: everyMs, wallet_other_currency: inOther } = dialect;
  if (everyMs === null || (before !== undefined && clock.now() < before.created_at + everyMs)) return;
  const movement = { reason: OF_ANOTHER_SYSTEM, currency: inOther ? SECOND_CURRENCY : CURRENCY };
  const hasMoney = new Big(balanceOf(simulation, environment, movement.currency)).gte('0.01');
  if (hasMoney) move(simulation, environment, 'debit', '0.01', movement);
  else move(simulation, environment, 'credit', '0.10', movement);
}

function plain(amount: Big): string {
  const text = amount.toFixed();
  return (text.split('.')[1] ?? '').length < 2 ? amount.toFixed(2) : text;
}

const EVER = Number.MAX_SAFE_INTEGER;
const FILTERED = `WHERE environment = :environment AND (:reference IS NULL OR external_order_id = :reference)
  AND created_at BETWEEN :since AND :until AND (type = 'credit' OR created_at <= :debitsUntil)`;
const SORTED = { newestFirst: 'ORDER BY sequence DESC', oldestFirst: 'ORDER BY sequence' } as const;

/** The movements as the dialect shows them. @param since RFC 3339. */
export function shownMovements(
  simulation: Simulation,
  environment: Environment,
  { reference, since }: { readonly reference: string | undefined; readonly since: string | undefined },
  { cursor, limit }: Page,
): Movement[] {
  const { store, clock, dialect } = simulation;
  const { wallet_list_cached_ms: cached, wallet_rows_after_ms: rowsAfter } = dialect;
  const { debits_visible_after_ms: debitsAfter, wallet_keeps_newest: newest, wallet_keeps_oldest: oldest } = dialect;
  const order: ListOrder = dialect.wallet_newest_first ? 'newestFirst' : 'oldestFirst';
  const now = clock.now();
  const madeAt = cached === 0 ? now : now - (now % cached);
  const filter = {
    environment,
    reference: reference ?? null,
    since: since === undefined ? 0 : firstShown(dialect, Date.parse(since)),
    // Without a delay all movements are shown, also those of a time when the clock was ahead.
    until: cached === 0 && rowsAfter === 0 ? EVER : Math.min(madeAt, now - rowsAfter),
    debitsUntil: debitsAfter === 0 ? EVER : now - debitsAfter,
  };
  const edge = (by: ListOrder, count: number) =>
    store.rows('ledger', `${FILTERED} ${SORTED[by]} LIMIT 1 OFFSET :count - 1`, { ...filter, count })[0]?.sequence;
  let first = order === 'oldestFirst' && cursor !== undefined ? cursor + 1 : 0;
  let last = order === 'newestFirst' && cursor !== undefined ? cursor - 1 : EVER;
  if (newest !== null) first = Math.max(first, edge('newestFirst', newest) ?? 0);
  if (oldest !== null) last = Math.min(last, edge('oldestFirst', oldest) ?? EVER);
  const rest = `${FILTERED} AND sequence BETWEEN :first AND :last ${SORTED[order]} LIMIT :limit`;
  const rows = store.rows('ledger', rest, { ...filter, first, last, limit });
  // One movement for each reading, after its first page.
  if (cursor === undefined) moveForOthers(simulation, environment);
  return rows;
}

function firstShown({ wallet_filter_shift_ms: shift, wallet_filter_edge_ms: edge }: Dialect, since: number): number {
  const shifted = since + shift;
  return edge === null ? shifted : shifted - (shifted % edge) + edge;
}

export function shownAmount({ wallet_amounts: unit }: Dialect, amount: string): string {
  return unit === 'cents' ? new Big(amount).times(100).toFixed() : amount;
}

export function shownMovement({ dialect, clock }: Simulation, movement: Movement): z.input<typeof walletTransaction> {
  const isPending = movement.type === 'credit' && clock.now() - movement.created_at < dialect.credits_pending_for_ms;
  return {
    ...wireTransaction(movement),
    amount: shownAmount(dialect, movement.amount),
    currency: movement.currency === CURRENCY ? dialect.wallet_currency : movement.currency,
    ...(dialect.credits_pending_for_ms > 0 && { status: isPending ? 'pending' : 'completed' }),
  };
}
