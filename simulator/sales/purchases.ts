import type { Behaviour } from '#simulator/behaviour/behaviours.ts';
import { type CataloguePackage, CURRENCY } from '#simulator/catalogue.ts';
import { topupOptions } from '#simulator/sales/esims.ts';
import { type KeyedCall, runKeyed } from '#simulator/sales/keyed-operations.ts';
import { announce, completeSale, failSale, readSale, saleAnswer, saleSubject } from '#simulator/sales/progress.ts';
import { type Answer, jsonAnswer, ServiceError, validationFailed } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Sale, SaleKind } from '#simulator/store/rows.ts';
import { covers, move } from '#simulator/wallet.ts';
import type { OrderRequest, TopupRequest, VpnOrderRequest } from '#upstream/contract.ts';

interface Basket {
  readonly kind: SaleKind;
  /** @throws ServiceError when it cannot be bought. */
  readonly find: () => { readonly id: number; readonly price: string; readonly behaviour?: Behaviour };
  readonly reference?: string;
  readonly esimId?: string;
}

/** Refuses by throwing a ServiceError, as the others do. */
export async function buyPackage(simulation: Simulation, call: KeyedCall, request: OrderRequest): Promise<Answer> {
  const { external_order_id: reference, package_id: id } = request;
  return buy(simulation, call, { kind: 'order', reference, find: () => findPackage(simulation, id) });
}

export async function orderVpn(simulation: Simulation, call: KeyedCall, request: VpnOrderRequest): Promise<Answer> {
  const { external_subscription_id: reference, vpn_plan_id: id } = request;
  const find = () => {
    const plan = simulation.plans.get(id);
    if (plan === undefined) throw validationFailed({ vpn_plan_id: 'is no VPN plan' });
    if (plan.available) return plan;
    throw new ServiceError(422, 'plan_unavailable', `VPN plan ${id} is not available at the moment.`);
  };
  return buy(simulation, call, { kind: 'vpn', reference, find });
}

export async function topUp(simulation: Simulation, call: KeyedCall, request: TopupRequest): Promise<Answer> {
  const { esim_id: esimId, package_id: id } = request;
  const find = () => {
    const esim = simulation.store.get('esims', { id: esimId, environment: call.environment });
    if (esim === undefined) throw validationFailed({ esim_id: 'is no eSIM' });
    return findPackage(simulation, id, (item) => topupOptions(simulation, esim).some((each) => each.id === item.id));
  };
  return buy(simulation, call, { kind: 'topup', esimId, find });
}

async function buy(simulation: Simulation, call: KeyedCall, basket: Basket): Promise<Answer> {
  const { environment } = call;
  const { kind, find, reference, esimId } = basket;
  return runKeyed(simulation, call, {
    find,
    requireUnique: () => {
      if (reference === undefined || !simulation.store.get('sales', { environment, kind, reference })) return;
      const field = kind === 'order' ? 'external_order_id' : 'external_subscription_id';
      throw new ServiceError(409, 'reference_exists', `This ${field} was already used.`);
    },
    requireBalance: ({ price }) => {
      if (covers(simulation, environment, price)) return;
      throw new ServiceError(402, 'insufficient_balance', `The balance does not cover ${price} ${CURRENCY}.`);
    },
    carryOut: (item) => {
      if (esimId !== undefined) requireNothingInFlight(simulation, esimId);
      return sell(simulation, call, basket, item);
    },
  });
}

function sell(
  simulation: Simulation,
  { environment }: KeyedCall,
  { kind, reference, esimId }: Basket,
  item: ReturnType<Basket['find']>,
): Answer {
  const { store, behaviours, identifiers, clock, options } = simulation;
  const { outcome, debited = true, ...behaviour } = behaviours.ofSale(environment, kind, item);
  const later = outcome === 'processing_then_completed' || outcome === 'processing_then_failed';
  const id = identifiers.id(kind, store.nextSequence('sales'));
  const now = clock.now();
  store.insert('sales', {
    id,
    environment,
    kind,
    reference: reference ?? null,
    item_id: item.id,
    esim_id: esimId ?? null,
    status: 'processing',
    price: item.price,
    currency: CURRENCY,
    credit_after_ms: behaviour.credit_after_ms === undefined ? 0 : behaviour.credit_after_ms,
    due_at: later ? now + (behaviour.delay_ms ?? options.processingDelayMs) : null,
    due_outcome: outcome === 'processing_then_completed' ? 'completed' : later ? 'failed' : null,
    created_at: now,
    updated_at: now,
  });
  const sale = readSale(simulation, id);
  if (debited) move(simulation, environment, 'debit', item.price, { reason: kind, ...saleSubject(sale) });
  return jsonAnswer(201, saleAnswer(simulation, begun(simulation, sale, outcome, debited)));
}

function begun(simulation: Simulation, sale: Sale, outcome: Behaviour['outcome'], debited: boolean): Sale {
  if (outcome === 'completed') return completeSale(simulation, sale) ?? sale;
  if (outcome === 'failed_at_once') return failSale(simulation, sale, undefined, debited) ?? sale;
  return announce(simulation, sale);
}

/** @param isOption of a top-up. */
function findPackage(
  { packages }: Simulation,
  id: number,
  isOption: (item: CataloguePackage) => boolean = () => true,
): CataloguePackage {
  const item = packages.get(id);
  if (item === undefined) throw validationFailed({ package_id: 'is no package' });
  if (!isOption(item)) {
    throw new ServiceError(422, 'topup_incompatible', `Package ${id} is no top-up option of this eSIM.`);
  }
  if (item.available) return item;
  throw new ServiceError(422, 'package_unavailable', `Package ${id} is not available at the moment.`);
}

/** One top-up or cancellation of an eSIM at a time. Checked before anything is written. */
export function requireNothingInFlight({ store }: Simulation, esim_id: string): void {
  const busy = (what: string) => new ServiceError(409, 'esim_busy', `A ${what} of this eSIM is under way.`);
  if (store.get('refunds', { esim_id, cancellation: 'processing' })) throw busy('cancellation');
  if (store.get('sales', { esim_id, kind: 'topup', status: 'processing' })) throw busy('top-up');
}
