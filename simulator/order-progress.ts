import type { Agenda, DueSource } from '#simulator/agenda.ts';
import type { Clock } from '#simulator/clock.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { Esims } from '#simulator/store/esims.ts';
import type { Failure, OrderRecord, Orders } from '#simulator/store/orders.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Wallet } from '#simulator/wallet.ts';
import { wireOrder } from '#simulator/wire.ts';
import type { WebhookQueue } from '#simulator/webhooks/queue.ts';

/** Where phones would fetch the profiles; `.example` names nobody (RFC 2606). */
const SMDP_ADDRESS = 'smdp.simulator.example';

const SUPPLIER_FAILURE: Failure = { code: 'supplier_failed', message: 'The supplier could not deliver the eSIM.' };

export interface OrderProgressParts {
  readonly store: Store;
  readonly orders: Orders;
  readonly esims: Esims;
  readonly wallet: Wallet;
  readonly webhooks: WebhookQueue;
  readonly identifiers: Identifiers;
  readonly clock: Clock;
  readonly agenda: Agenda;
}

/** Takes orders to their end: at once, when they are due, or when the admin API says so. */
export class OrderProgress implements DueSource {
  readonly #parts: OrderProgressParts;

  constructor(parts: OrderProgressParts) {
    this.#parts = parts;
  }

  /** Makes the eSIM and announces it. @returns undefined when the order is no longer processing. */
  complete(order: OrderRecord): OrderRecord | undefined {
    const { store, orders, esims, identifiers, clock } = this.#parts;
    return store.transaction(() => {
      const sequence = store.nextSequence('esims');
      const esimId = identifiers.id('esim', sequence);
      if (!orders.complete(order.id, esimId, clock.now())) return undefined;
      esims.insert({
        id: esimId,
        environment: order.environment,
        orderId: order.id,
        iccid: identifiers.iccid(sequence),
        activationCode: `LPA:1$${SMDP_ADDRESS}$${identifiers.matchingId(sequence)}`,
        createdAt: clock.now(),
      });
      return this.#announce(order.id);
    });
  }

  /**
   * Announces the failure and pays the debit back as the order's behaviour says: at once, later, or never.
   *
   * @param debited false when the order never debited.
   * @returns undefined when the order is no longer processing.
   */
  fail(order: OrderRecord, failure: Failure = SUPPLIER_FAILURE, debited = true): OrderRecord | undefined {
    const { store, orders, clock } = this.#parts;
    return store.transaction(() => {
      if (!orders.fail(order.id, failure, clock.now())) return undefined;
      if (debited && order.creditAfterMs === 0) this.#payBack(order);
      if (debited && order.creditAfterMs !== null && order.creditAfterMs > 0) {
        orders.setCreditDue(order.id, clock.now() + order.creditAfterMs);
      }
      return this.#announce(order.id);
    });
  }

  nextDue(): number | undefined {
    return this.#parts.orders.nextDue();
  }

  runDue(now: number): void {
    const { store, orders } = this.#parts;
    for (const order of orders.due(now)) {
      if (order.dueOutcome === 'completed') this.complete(order);
      else this.fail(order);
    }
    for (const order of orders.creditDue(now)) {
      store.transaction(() => {
        this.#payBack(order);
        orders.setCreditDue(order.id, null);
      });
    }
  }

  /** Stores the event that tells of the order's present status, in the transaction of the change. */
  #announce(id: string): OrderRecord {
    const order = this.#parts.orders.get(id);
    if (order === undefined) throw new Error(`order ${id} is gone`);
    this.announce(order);
    this.#parts.agenda.wake();
    return order;
  }

  announce(order: OrderRecord): void {
    this.#parts.webhooks.enqueue({
      environment: order.environment,
      event: `order.${order.status}`,
      subject: order.id,
      data: wireOrder(order),
    });
  }

  #payBack(order: OrderRecord): void {
    this.#parts.wallet.credit(order.environment, order.price, {
      reason: 'refund',
      orderId: order.id,
      externalOrderId: order.externalOrderId,
    });
  }
}
