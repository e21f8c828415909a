import type { Agenda, DueSource } from '#simulator/behaviour/agenda.ts';
import type { Clock } from '#simulator/clock.ts';
import type { KindsOfSale } from '#simulator/sales/kinds.ts';
import type { Failure, SaleRecord, Sales } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Wallet } from '#simulator/wallet.ts';
import type { WebhookQueue } from '#simulator/webhooks/queue.ts';

export interface ProgressParts {
  readonly store: Store;
  readonly sales: Sales;
  readonly kinds: KindsOfSale;
  readonly wallet: Wallet;
  readonly webhooks: WebhookQueue;
  readonly clock: Clock;
  readonly agenda: Agenda;
}

/** Completes or fails purchases: at once, when they are due, or by the admin API. */
export class SaleProgress implements DueSource {
  readonly #parts: ProgressParts;

  constructor(parts: ProgressParts) {
    this.#parts = parts;
  }

  /** Delivers a purchase and sends its event. @returns undefined when it is no longer processing. */
  complete(sale: SaleRecord): SaleRecord | undefined {
    const { store, sales, kinds, clock } = this.#parts;
    return store.transaction(() => {
      if (this.#reread(sale).status !== 'processing') return undefined;
      sales.complete(sale.id, kinds[sale.kind].deliver(sale), clock.now());
      return this.#announced(sale);
    });
  }

  /**
   * Fails a purchase, sends its event and credits the debit as its behaviour says: at once, later or never.
   *
   * @param debited false when it was never debited.
   * @returns undefined when it is no longer processing.
   */
  fail(sale: SaleRecord, failure?: Failure, debited = true): SaleRecord | undefined {
    const { store, sales, kinds, clock } = this.#parts;
    return store.transaction(() => {
      if (!sales.fail(sale.id, failure ?? kinds[sale.kind].failure, clock.now())) return undefined;
      if (debited && sale.creditAfterMs === 0) this.#payBack(sale);
      if (debited && sale.creditAfterMs !== null && sale.creditAfterMs > 0) {
        sales.setCreditDue(sale.id, clock.now() + sale.creditAfterMs);
      }
      return this.#announced(sale);
    });
  }

  nextDue(): number | undefined {
    return this.#parts.sales.nextDue();
  }

  runDue(now: number): void {
    const { store, sales } = this.#parts;
    for (const sale of sales.due(now)) {
      if (sale.dueOutcome === 'completed') this.complete(sale);
      else this.fail(sale);
    }
    for (const sale of sales.creditDue(now)) {
      store.transaction(() => {
        this.#payBack(sale);
        sales.setCreditDue(sale.id, null);
      });
    }
  }

  /** Stores the event of the current status, in the transaction of the change, and wakes the agenda. */
  announce(sale: SaleRecord): void {
    this.#parts.agenda.wake();
    const kind = this.#parts.kinds[sale.kind];
    const event = kind.event(sale);
    if (event === undefined) return;
    const { environment, id } = sale;
    this.#parts.webhooks.enqueue({ environment, event, subject: id, data: kind.announcement(sale) });
  }

  #announced(before: SaleRecord): SaleRecord {
    const sale = this.#reread(before);
    this.announce(sale);
    return sale;
  }

  #reread({ kind, id }: SaleRecord): SaleRecord {
    const sale = this.#parts.sales.get(kind, id);
    if (sale === undefined) throw new Error(`The store has lost ${kind} ${id}.`);
    return sale;
  }

  #payBack(sale: SaleRecord): void {
    const subject = this.#parts.kinds[sale.kind].subject(sale);
    this.#parts.wallet.credit(sale.environment, sale.price, { reason: 'refund', ...subject });
  }
}
