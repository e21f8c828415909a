import type { Catalogue, VpnPlanItem } from '#simulator/catalogue.ts';
import type { Agenda, Clock, DueSource } from '#simulator/clock.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { EsimLifecycle } from '#simulator/sales/esims.ts';
import type { Esims } from '#simulator/store/esims.ts';
import type { MovementSubject } from '#simulator/store/ledger.ts';
import type { Failure, SaleKind, SaleRecord, Sales, Subscriptions } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Wallet } from '#simulator/wallet.ts';
import type { WebhookQueue } from '#simulator/webhooks/queue.ts';
import { wireOrder, wireTopup, wireVpnSubscription } from '#simulator/wire.ts';

interface ProgressParts {
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

/** The differences between the kinds of purchase. */
interface KindOfSale {
  /** Creates the delivery, in the transaction of the completion. @returns the id of a new eSIM, if it delivers one. */
  deliver(sale: SaleRecord): string | undefined;
  /** The event of the current status; undefined when the interface has none for it. */
  event(sale: SaleRecord): string | undefined;
  /** The purchase as in answers. */
  answer(sale: SaleRecord): Record<string, unknown>;
  /** The purchase as in events. */
  announcement(sale: SaleRecord): Record<string, unknown>;
  /** The names of the purchase in its debit and credit. */
  subject(sale: SaleRecord): MovementSubject;
  readonly failure: Failure;
}

export type KindsOfSale = Readonly<Record<SaleKind, KindOfSale>>;

interface KindParts {
  readonly store: Store;
  readonly esims: Esims;
  readonly subscriptions: Subscriptions;
  readonly esimLifecycle: EsimLifecycle;
  readonly plans: Catalogue<VpnPlanItem>;
  readonly identifiers: Identifiers;
  readonly clock: Clock;
}

/** The server from which phones would download profiles; `.example` is reserved (RFC 2606). */
const SMDP_ADDRESS = 'smdp.simulator.example';
const VPN_SERVER = 'vpn.simulator.example';
const DAY_MS = 86_400_000;

/** The steps of each kind of sale: delivery, failure and its events. */
export function kindsOfSale(parts: KindParts): KindsOfSale {
  const { subscriptions, esimLifecycle } = parts;
  return {
    order: {
      deliver: (sale) => deliverEsim(parts, sale),
      event: ({ status }) => `order.${status}`,
      answer: wireOrder,
      announcement: wireOrder,
      subject: ({ id, reference }) => ({ orderId: id, externalOrderId: reference }),
      failure: { code: 'supplier_failed', message: 'The supplier could not deliver the eSIM.' },
    },
    topup: {
      deliver: (sale) => {
        esimLifecycle.recharge(sale);
        return undefined;
      },
      event: ({ status }) => `topup.${status}`,
      answer: wireTopup,
      announcement: wireTopup,
      subject: ({ id, esimId }) => ({ topupId: id, esimId }),
      failure: { code: 'supplier_failed', message: 'The supplier could not recharge the eSIM.' },
    },
    vpn: {
      deliver: (sale) => {
        startSubscription(parts, sale);
        return undefined;
      },
      event: ({ status }) => {
        return status === 'processing' ? undefined : `vpn.subscription.${status === 'completed' ? 'active' : 'failed'}`;
      },
      answer: (sale) => wireVpnSubscription(sale, subscriptions.get(sale.id)),
      // Events contain no access data, to keep it out of delivery logs.
      announcement: (sale) => ({ ...wireVpnSubscription(sale, subscriptions.get(sale.id)), access: undefined }),
      subject: ({ id, reference }) => ({ vpnSubscriptionId: id, externalSubscriptionId: reference }),
      failure: { code: 'provisioning_failed', message: 'The VPN subscription could not be set up.' },
    },
  };
}

function deliverEsim({ store, esims, identifiers, clock }: KindParts, sale: SaleRecord): string {
  const sequence = store.nextSequence('esims');
  const id = identifiers.id('esim', sequence);
  esims.insert({
    id,
    environment: sale.environment,
    orderId: sale.id,
    packageId: sale.itemId,
    iccid: identifiers.iccid(sequence),
    activationCode: `LPA:1$${SMDP_ADDRESS}$${identifiers.matchingId(sequence)}`,
    createdAt: clock.now(),
  });
  return id;
}

function startSubscription({ subscriptions, plans, identifiers, clock }: KindParts, sale: SaleRecord): void {
  const plan = plans.everSold(sale.itemId);
  if (plan === undefined) throw new Error(`There is no VPN plan ${sale.itemId}.`);
  const startedAt = clock.now();
  subscriptions.insert({
    id: sale.id,
    ...identifiers.vpnLogin(sale.sequence),
    server: VPN_SERVER,
    startedAt,
    expiresAt: startedAt + plan.durationDays * DAY_MS,
  });
}
