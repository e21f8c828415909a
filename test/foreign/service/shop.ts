/** The business of the foreign service as its behaviour has it: purchases, cancellations, and the wallet that it shows. */
import type { Behaviour } from '#test/foreign/service/behaviour.ts';
import type { Books, Esim, Package, Refund, Row, Sale, SaleKind } from '#test/foreign/service/books.ts';
import type { Fault } from '#test/foreign/service/present.ts';

/** Time until an accepted purchase is completed, when that is later. */
const COMPLETION_MS = 300;

export interface Wanted {
  readonly kind: SaleKind;
  readonly productId: unknown;
  /** The eSIM of a top-up. */
  readonly esimId: unknown;
  readonly reference: unknown;
  readonly key: string;
}

export interface Listener {
  ended(sale: Sale, ending: 'completed' | 'failed' | 'cancelled'): void;
  cancelled(esim: Esim, refund: Refund): void;
}

export class Shop {
  readonly #books: Books;
  readonly #behaviour: Behaviour;
  readonly #listener: Listener;
  /** What happens later, by its timer. */
  readonly #timers = new Map<NodeJS.Timeout, () => void>();
  #purchases = 0;
  #shown: { readonly until: number; readonly rows: readonly Row[] } | undefined;

  constructor(books: Books, behaviour: Behaviour, listener: Listener) {
    this.#books = books;
    this.#behaviour = behaviour;
    this.#listener = listener;
  }

  /** Number of purchases that were asked for and could be made. */
  get purchases(): number {
    return this.#purchases;
  }

  /** @returns the sale, or why there is none. */
  buy({ kind, productId, esimId: wantedEsim, reference, key }: Wanted): Sale | Fault {
    const behaviour = this.#behaviour;
    const isPlan = kind === 'subscription';
    const field = isPlan ? 'vpn_plan_id' : 'package_id';
    const products: readonly Package[] = isPlan ? this.#books.plans : this.#books.packages;
    const product = products.find(({ id }) => id === productId);
    if (product === undefined) return { status: 422, code: 'validation_failed', message: 'Not for sale.', field };
    const esimId = kind === 'topup' ? this.#books.esims.find(({ id }) => id === wantedEsim)?.id : null;
    if (esimId === undefined)
      return { status: 422, code: 'validation_failed', message: 'No such eSIM.', field: 'esim_id' };
    this.#purchases += 1;
    const supplier = this.#purchases <= behaviour.failures ? behaviour.supplier : 'delivers';
    if (supplier === 'refused') return { status: 422, code: 'package_unavailable', message: 'Out of stock.', field };
    const named = typeof reference === 'string' ? reference : null;
    const sale = this.#books.sell({ kind, reference: named, key, product, esimId });
    if (supplier === 'delivers' || supplier === 'credited') this.#books.debit(sale);
    const finish = () => this.#finish(sale, supplier);
    if (behaviour.completes === 'at_once') finish();
    else this.#later(COMPLETION_MS, finish);
    return sale;
  }

  #finish(sale: Sale, supplier: Behaviour['supplier']): void {
    if (supplier === 'delivers') this.#books.complete(sale);
    else sale.status = 'failed';
    if (supplier === 'credited') this.#books.credit(sale);
    if (supplier === 'late_debit') this.#later(this.#behaviour.lateMs, () => this.#books.debit(sale));
    if (this.#behaviour.completes !== 'read')
      this.#listener.ended(sale, sale.status === 'failed' ? 'failed' : 'completed');
  }

  /** @returns the refund, or why there is none. */
  cancel(esim: Esim): Refund | Fault {
    const refund = esim.status === 'cancelled' ? undefined : this.#books.cancel(esim, this.#behaviour.refund);
    if (refund === undefined) return { status: 409, code: 'already_cancelled', message: 'The eSIM is cancelled.' };
    this.#listener.cancelled(esim, refund);
    return refund;
  }

  /** @returns why the subscription cannot be ended. */
  end(sale: Sale): Fault | undefined {
    if (sale.cancelledAt !== undefined)
      return { status: 409, code: 'already_cancelled', message: 'The subscription has ended.' };
    sale.cancelledAt = Date.now();
    this.#listener.ended(sale, 'cancelled');
    return undefined;
  }

  /** The rows of the wallet that the service shows. @param since epoch milliseconds; not a number: all. */
  rows(since: number): readonly Row[] {
    const { wallet } = this.#behaviour;
    const now = Date.now();
    const { rowsAfterMs = 0, clockMs = 0, sinceOffMs = 0, cap } = wallet;
    if (this.#shown === undefined || this.#shown.until <= now) {
      const there = this.#books.rows.filter(({ at }) => at + rowsAfterMs <= now);
      this.#shown = { until: now + (wallet.cachedMs ?? 0), rows: there };
    }
    const all = this.#shown.rows;
    const kept = cap === undefined ? all : cap.keeps === 'newest' ? all.slice(-cap.rows) : all.slice(0, cap.rows);
    const wanted = kept.filter(({ at }) => Number.isNaN(since) || at + clockMs >= since + sinceOffMs);
    return wallet.oldestFirst === true ? wanted : wanted.toReversed();
  }

  /** Another client of the account moves money. */
  moveMoneyOfOthers(): void {
    if (this.#behaviour.wallet.others !== true) return;
    const id = this.#books.newId('row');
    this.#books.rows.push({ id, type: 'debit', cents: 7, reason: 'adjustment', at: Date.now() });
  }

  /** Does now what would happen later. */
  finishAll(): void {
    const waiting = [...this.#timers.values()];
    this.stop();
    for (const act of waiting) act();
  }

  stop(): void {
    for (const timer of this.#timers.keys()) clearTimeout(timer);
    this.#timers.clear();
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.set(timer, act);
  }
}

/** True for the answer to something that the service refuses. */
export function isFault(result: object): result is Fault {
  return 'code' in result && 'message' in result;
}
