import type { Catalogue } from '#simulator/catalogue/catalogue.ts';
import type { VpnPlanItem } from '#simulator/catalogue/vpn-plans.ts';
import type { Clock } from '#simulator/clock.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { EsimCare } from '#simulator/sales/esim-care.ts';
import type { Esims } from '#simulator/store/esims.ts';
import type { MovementSubject } from '#simulator/store/ledger.ts';
import type { Failure, SaleKind, SaleRecord } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Subscriptions } from '#simulator/store/subscriptions.ts';
import { wireOrder, wireTopup, wireVpnSubscription } from '#simulator/wire.ts';

/** What differs between the kinds of purchase. */
interface KindOfSale {
  /** Makes what was bought, in the transaction of the completion. @returns the id of a new eSIM, if that is it. */
  deliver(sale: SaleRecord): string | undefined;
  /** The event that tells of the present status; undefined where the interface has none. */
  event(sale: SaleRecord): string | undefined;
  /** As answers show it. */
  answer(sale: SaleRecord): Record<string, unknown>;
  /** As events show it. */
  announcement(sale: SaleRecord): Record<string, unknown>;
  /** What its debit and credit are about. */
  subject(sale: SaleRecord): MovementSubject;
  readonly failure: Failure;
}

export type KindsOfSale = Readonly<Record<SaleKind, KindOfSale>>;

export interface KindParts {
  readonly store: Store;
  readonly esims: Esims;
  readonly subscriptions: Subscriptions;
  readonly care: EsimCare;
  readonly plans: Catalogue<VpnPlanItem>;
  readonly identifiers: Identifiers;
  readonly clock: Clock;
}

/** Where phones would fetch the profiles; `.example` names nobody (RFC 2606). */
const SMDP_ADDRESS = 'smdp.simulator.example';
const VPN_SERVER = 'vpn.simulator.example';
const DAY_MS = 86_400_000;

export function kindsOfSale(parts: KindParts): KindsOfSale {
  const { subscriptions, care } = parts;
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
        care.recharge(sale);
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
      // Events carry no access data: it would lie about in logs of deliveries.
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
  const plan = plans.get(sale.itemId);
  if (plan === undefined) throw new Error(`VPN plan ${sale.itemId} is gone`);
  const startedAt = clock.now();
  subscriptions.insert({
    id: sale.id,
    ...identifiers.vpnLogin(sale.sequence),
    server: VPN_SERVER,
    startedAt,
    expiresAt: startedAt + plan.durationDays * DAY_MS,
  });
}
