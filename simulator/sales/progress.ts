import type { DueSource } from '#simulator/clock.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { MovementSubject } from '#simulator/store/ledger.ts';
import type { Failure, SaleKind, SaleRecord } from '#simulator/store/sales.ts';
import { wireOrder, wireTopup, wireVpnSubscription } from '#simulator/wire.ts';

export class SaleProgress implements DueSource {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  complete(sale: SaleRecord): SaleRecord | undefined {
    const { store, sales, kinds, clock } = this.#simulation;
    return store.transaction(() => {
      if (this.#reread(sale).status !== 'processing') return undefined;
      sales.complete(sale.id, kinds[sale.kind].deliver(sale), clock.now());
      return this.#announced(sale);
    });
  }

  /** The behaviour decides when the debit is credited. @param debited false when it was never debited. */
  fail(sale: SaleRecord, failure?: Failure, debited = true): SaleRecord | undefined {
    const { store, sales, kinds, clock } = this.#simulation;
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
    return this.#simulation.sales.nextDue();
  }

  runDue(now: number): void {
    const { store, sales } = this.#simulation;
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

  /** Runs in the transaction of the change. */
  announce(sale: SaleRecord): void {
    this.#simulation.agenda.wake();
    const kind = this.#simulation.kinds[sale.kind];
    const event = kind.event(sale);
    if (event === undefined) return;
    const { environment, id } = sale;
    this.#simulation.webhooks.enqueue({ environment, event, subject: id, data: kind.announcement(sale) });
  }

  #announced(before: SaleRecord): SaleRecord {
    const sale = this.#reread(before);
    this.announce(sale);
    return sale;
  }

  #reread({ kind, id }: SaleRecord): SaleRecord {
    const sale = this.#simulation.sales.get(kind, id);
    if (sale === undefined) throw new Error(`The store has lost ${kind} ${id}.`);
    return sale;
  }

  #payBack(sale: SaleRecord): void {
    const subject = this.#simulation.kinds[sale.kind].subject(sale);
    this.#simulation.wallet.credit(sale.environment, sale.price, { reason: 'refund', ...subject });
  }
}

interface KindOfSale {
  /** Runs in the transaction of the completion. @returns the id of a new eSIM. */
  deliver(sale: SaleRecord): string | undefined;
  event(sale: SaleRecord): string | undefined;
  answer(sale: SaleRecord): Record<string, unknown>;
  announcement(sale: SaleRecord): Record<string, unknown>;
  subject(sale: SaleRecord): MovementSubject;
  readonly failure: Failure;
}

export type KindsOfSale = Readonly<Record<SaleKind, KindOfSale>>;

/** `.example` is reserved (RFC 2606). */
const SMDP_ADDRESS = 'smdp.simulator.example';
const VPN_SERVER = 'vpn.simulator.example';
const DAY_MS = 86_400_000;

export function kindsOfSale(simulation: Simulation): KindsOfSale {
  const { subscriptions } = simulation;
  return {
    order: {
      deliver: (sale) => deliverEsim(simulation, sale),
      event: ({ status }) => `order.${status}`,
      answer: wireOrder,
      announcement: wireOrder,
      subject: ({ id, reference }) => ({ orderId: id, externalOrderId: reference }),
      failure: { code: 'supplier_failed', message: 'The supplier could not deliver the eSIM.' },
    },
    topup: {
      deliver: (sale) => {
        simulation.esimLifecycle.recharge(sale);
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
        startSubscription(simulation, sale);
        return undefined;
      },
      event: ({ status }) => {
        return status === 'processing' ? undefined : `vpn.subscription.${status === 'completed' ? 'active' : 'failed'}`;
      },
      answer: (sale) => wireVpnSubscription(sale, subscriptions.get(sale.id)),
      // Without access data, to keep it out of delivery logs.
      announcement: (sale) => ({ ...wireVpnSubscription(sale, subscriptions.get(sale.id)), access: undefined }),
      subject: ({ id, reference }) => ({ vpnSubscriptionId: id, externalSubscriptionId: reference }),
      failure: { code: 'provisioning_failed', message: 'The VPN subscription could not be set up.' },
    },
  };
}

function deliverEsim({ store, esims, identifiers, clock }: Simulation, sale: SaleRecord): string {
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

function startSubscription({ subscriptions, plans, identifiers, clock }: Simulation, sale: SaleRecord): void {
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
