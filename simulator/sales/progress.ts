import { DAY_MS, type DueSource } from '#simulator/clock.ts';
import { recharge } from '#simulator/sales/esims.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { MovementSubject, Sale, SaleKind } from '#simulator/store/rows.ts';
import { move } from '#simulator/wallet.ts';
import { wireOrder, wireTopup, wireVpnSubscription } from '#simulator/wire.ts';

interface Failure {
  readonly code: string;
  readonly message: string;
}

interface KindOfSale {
  /** Runs in the transaction of the completion. @returns the id of a new eSIM. */
  readonly deliver: (simulation: Simulation, sale: Sale) => string | undefined;
  readonly event: (status: Sale['status']) => string | undefined;
  readonly answer: (simulation: Simulation, sale: Sale) => Record<string, unknown>;
  readonly subject: (sale: Sale) => MovementSubject;
  readonly failure: Failure;
}

/** `.example` is reserved (RFC 2606). */
const SMDP_ADDRESS = 'smdp.simulator.example';
const VPN_SERVER = 'vpn.simulator.example';

const KINDS: Readonly<Record<SaleKind, KindOfSale>> = {
  order: {
    deliver: deliverEsim,
    event: (status) => `order.${status}`,
    answer: (_simulation, sale) => wireOrder(sale),
    subject: ({ id, reference }) => ({ order_id: id, external_order_id: reference }),
    failure: { code: 'supplier_failed', message: 'The supplier could not deliver the eSIM.' },
  },
  topup: {
    deliver: (simulation, sale) => {
      recharge(simulation, sale);
      return undefined;
    },
    event: (status) => `topup.${status}`,
    answer: (_simulation, sale) => wireTopup(sale),
    subject: ({ id, esim_id }) => ({ topup_id: id, esim_id }),
    failure: { code: 'supplier_failed', message: 'The supplier could not recharge the eSIM.' },
  },
  vpn: {
    deliver: startSubscription,
    event: (status) => {
      return status === 'processing' ? undefined : `vpn.subscription.${status === 'completed' ? 'active' : 'failed'}`;
    },
    answer: ({ store }, sale) => wireVpnSubscription(sale, store.get('vpn_subscriptions', { id: sale.id })),
    subject: ({ id, reference }) => ({ vpn_subscription_id: id, external_subscription_id: reference }),
    failure: { code: 'provisioning_failed', message: 'The VPN subscription could not be set up.' },
  },
};

export function saleAnswer(simulation: Simulation, sale: Sale): Record<string, unknown> {
  return KINDS[sale.kind].answer(simulation, sale);
}

/** Without access data, to keep it out of delivery logs. */
export function saleAnnouncement(simulation: Simulation, sale: Sale): Record<string, unknown> {
  const answer = saleAnswer(simulation, sale);
  return sale.kind === 'vpn' ? { ...answer, access: undefined } : answer;
}

export function saleSubject(sale: Sale): MovementSubject {
  return KINDS[sale.kind].subject(sale);
}

export function completeSale(simulation: Simulation, { id, kind }: Sale): Sale | undefined {
  const { store, clock } = simulation;
  return store.transaction(() => {
    const sale = readSale(simulation, id);
    if (sale.status !== 'processing') return undefined;
    const esim_id = KINDS[kind].deliver(simulation, sale) ?? sale.esim_id;
    const ended = { due_at: null, due_outcome: null, updated_at: clock.now() };
    store.change('sales', { id }, { status: 'completed', esim_id, ...ended });
    return announce(simulation, readSale(simulation, id));
  });
}

/** The behaviour decides when the debit is credited. @param debited false when it was never debited. */
export function failSale(
  simulation: Simulation,
  sale: Sale,
  { code, message }: Failure = KINDS[sale.kind].failure,
  debited = true,
): Sale | undefined {
  const { store, clock } = simulation;
  const { id, credit_after_ms: creditAfter } = sale;
  return store.transaction(() => {
    const now = clock.now();
    const ended = { due_at: null, due_outcome: null, updated_at: now };
    const failed = { status: 'failed', failure_code: code, failure_message: message, ...ended } as const;
    if (store.change('sales', { id, status: 'processing' }, failed) === 0) return undefined;
    if (debited && creditAfter === 0) payBack(simulation, sale);
    else if (debited && creditAfter !== null) store.change('sales', { id }, { credit_due_at: now + creditAfter });
    return announce(simulation, readSale(simulation, id));
  });
}

export function dueSales(simulation: Simulation): DueSource {
  const { store } = simulation;
  return {
    nextDue: () =>
      store.least(
        'due',
        `(SELECT min(due_at) AS due FROM sales WHERE due_at IS NOT NULL
          UNION ALL SELECT min(credit_due_at) FROM sales WHERE credit_due_at IS NOT NULL)`,
      ),
    runDue: (now) => {
      for (const sale of store.rows('sales', 'WHERE due_at <= :now ORDER BY due_at, sequence', { now })) {
        if (sale.due_outcome === 'completed') completeSale(simulation, sale);
        else failSale(simulation, sale);
      }
      const credits = 'WHERE credit_due_at <= :now ORDER BY credit_due_at, sequence';
      for (const sale of store.rows('sales', credits, { now })) {
        store.transaction(() => {
          payBack(simulation, sale);
          store.change('sales', { id: sale.id }, { credit_due_at: null });
        });
      }
    },
  };
}

/** Runs in the transaction of the change. */
export function announce(simulation: Simulation, sale: Sale): Sale {
  simulation.agenda.wake();
  const { environment, id: subject } = sale;
  const event = KINDS[sale.kind].event(sale.status);
  if (event !== undefined) {
    simulation.webhooks.enqueue({ environment, event, subject, data: saleAnnouncement(simulation, sale) });
  }
  return sale;
}

export function readSale({ store }: Simulation, id: string): Sale {
  const sale = store.get('sales', { id });
  if (sale === undefined) throw new Error(`The store has lost sale ${id}.`);
  return sale;
}

function payBack(simulation: Simulation, sale: Sale): void {
  move(simulation, sale.environment, 'credit', sale.price, { reason: 'refund', ...saleSubject(sale) });
}

function deliverEsim({ store, identifiers, clock }: Simulation, sale: Sale): string {
  const sequence = store.nextSequence('esims');
  const id = identifiers.id('esim', sequence);
  store.insert('esims', {
    id,
    environment: sale.environment,
    order_id: sale.id,
    package_id: sale.item_id,
    iccid: identifiers.iccid(sequence),
    activation_code: `LPA:1$${SMDP_ADDRESS}$${identifiers.matchingId(sequence)}`,
    status: 'available',
    created_at: clock.now(),
  });
  return id;
}

function startSubscription({ store, plans, identifiers, clock }: Simulation, sale: Sale): undefined {
  const started_at = clock.now();
  store.insert('vpn_subscriptions', {
    id: sale.id,
    status: 'active',
    ...identifiers.vpnLogin(sale.sequence),
    server: VPN_SERVER,
    started_at,
    expires_at: started_at + plans.everSold(sale.item_id).durationDays * DAY_MS,
  });
}
