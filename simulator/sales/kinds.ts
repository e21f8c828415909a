import type { Catalogue } from '#simulator/catalogue/catalogue.ts';
import type { VpnPlanItem } from '#simulator/catalogue/vpn-plans.ts';
import type { Clock } from '#simulator/clock.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { EsimLifecycle } from '#simulator/sales/esim-lifecycle.ts';
import type { Esims } from '#simulator/store/esims.ts';
import type { MovementSubject } from '#simulator/store/ledger.ts';
import type { Failure, SaleKind, SaleRecord } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Subscriptions } from '#simulator/store/subscriptions.ts';
import { wireOrder, wireTopup, wireVpnSubscription } from '#simulator/wire.ts';

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

export interface KindParts {
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
