import type { Behaviour } from '#simulator/behaviour/behaviours.ts';
import { type CataloguePackage, CURRENCY, type VpnPlanItem } from '#simulator/catalogue.ts';
import type { KeyedCall } from '#simulator/sales/keyed-operations.ts';
import { type Answer, jsonAnswer, ServiceError, validationFailed } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { SaleKind, SaleRecord } from '#simulator/store/sales.ts';
import type { Environment } from '#simulator/store/store.ts';
import type { OrderRequest, TopupRequest, VpnOrderRequest } from '#upstream/contract.ts';

interface Basket {
  readonly environment: Environment;
  readonly kind: SaleKind;
  readonly item: { readonly id: number; readonly price: string; readonly behaviour?: Behaviour };
  readonly reference: string | null;
  readonly esimId: string | null;
}

/** Refuses by throwing a ServiceError. */
export class Purchases {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  async buyPackage(call: KeyedCall, request: OrderRequest): Promise<Answer> {
    const { environment } = call;
    const reference = request.external_order_id;
    return this.#simulation.keyed.run(call, {
      find: () => available(this.#requirePackage(request.package_id)),
      requireUnique: () => this.#requireNewReference(environment, 'order', reference),
      requireBalance: (item) => this.#requireBalance(environment, item),
      carryOut: (item) => this.#sell({ environment, kind: 'order', item, reference, esimId: null }),
    });
  }

  async orderVpn(call: KeyedCall, request: VpnOrderRequest): Promise<Answer> {
    const { environment } = call;
    const reference = request.external_subscription_id;
    return this.#simulation.keyed.run(call, {
      find: () => this.#requirePlan(request.vpn_plan_id),
      requireUnique: () => this.#requireNewReference(environment, 'vpn', reference),
      requireBalance: (item) => this.#requireBalance(environment, item),
      carryOut: (item) => this.#sell({ environment, kind: 'vpn', item, reference, esimId: null }),
    });
  }

  async topUp(call: KeyedCall, request: TopupRequest): Promise<Answer> {
    const { environment } = call;
    return this.#simulation.keyed.run(call, {
      find: () => this.#requireOption(this.#requireEsim(environment, request.esim_id), request.package_id),
      requireBalance: (item) => this.#requireBalance(environment, item),
      carryOut: (item) => {
        this.#requireNothingInFlight(request.esim_id);
        return this.#sell({ environment, kind: 'topup', item, reference: null, esimId: request.esim_id });
      },
    });
  }

  #sell({ environment, kind, item, reference, esimId }: Basket): Answer {
    const { store, sales, wallet, behaviours, progress, identifiers, clock, kinds, options } = this.#simulation;
    const behaviour = behaviours.ofSale(environment, kind, item);
    const { outcome } = behaviour;
    const later = outcome === 'processing_then_completed' || outcome === 'processing_then_failed';
    const debited = behaviour.debited !== false;
    const id = identifiers.id(kind, store.nextSequence('sales'));
    sales.insert({
      id,
      environment,
      kind,
      reference,
      itemId: item.id,
      esimId,
      price: item.price,
      currency: CURRENCY,
      creditAfterMs: behaviour.credit_after_ms === undefined ? 0 : behaviour.credit_after_ms,
      dueAt: later ? clock.now() + (behaviour.delay_ms ?? options.processingDelayMs) : null,
      dueOutcome: outcome === 'processing_then_completed' ? 'completed' : later ? 'failed' : null,
      createdAt: clock.now(),
    });
    const sale = required(sales.get(kind, id));
    if (debited) wallet.debit(environment, item.price, { reason: kind, ...kinds[kind].subject(sale) });
    return jsonAnswer(201, kinds[kind].answer(begin(sale)));

    function begin(started: SaleRecord): SaleRecord {
      if (outcome === 'completed') return required(progress.complete(started));
      if (outcome === 'failed_at_once') return required(progress.fail(started, undefined, debited));
      progress.announce(started);
      return started;
    }
  }

  #requirePackage(id: number): CataloguePackage {
    const item = this.#simulation.packages.get(id);
    if (item === undefined) throw validationFailed({ package_id: 'is no package' });
    return item;
  }

  #requirePlan(id: number): VpnPlanItem {
    const plan = this.#simulation.plans.get(id);
    if (plan === undefined) throw validationFailed({ vpn_plan_id: 'is no VPN plan' });
    if (!plan.available) {
      throw new ServiceError(422, 'plan_unavailable', `VPN plan ${plan.id} is not available at the moment.`);
    }
    return plan;
  }

  #requireEsim(environment: Environment, id: string): EsimRecord {
    const esim = this.#simulation.esims.get(id, environment);
    if (esim === undefined) throw validationFailed({ esim_id: 'is no eSIM' });
    return esim;
  }

  #requireOption(esim: EsimRecord, packageId: number): CataloguePackage {
    const item = this.#requirePackage(packageId);
    if (!this.#simulation.esimLifecycle.topupOptions(esim).some(({ id }) => id === item.id)) {
      throw new ServiceError(422, 'topup_incompatible', `Package ${item.id} is no top-up option of this eSIM.`);
    }
    return available(item);
  }

  /** One top-up or cancellation of an eSIM at a time. Checked before anything is written. */
  #requireNothingInFlight(esimId: string): void {
    const { sales, refunds } = this.#simulation;
    if (refunds.inFlight(esimId) !== undefined) throw esimBusy('cancellation');
    if (sales.topups(esimId, 'processing').length > 0) throw esimBusy('top-up');
  }

  #requireNewReference(environment: Environment, kind: 'order' | 'vpn', reference: string): void {
    if (this.#simulation.sales.byReference(environment, kind, reference) === undefined) return;
    const field = kind === 'order' ? 'external_order_id' : 'external_subscription_id';
    throw new ServiceError(409, 'reference_exists', `This ${field} was already used.`);
  }

  #requireBalance(environment: Environment, item: { readonly price: string }): void {
    if (this.#simulation.wallet.covers(environment, item.price)) return;
    throw new ServiceError(402, 'insufficient_balance', `The balance does not cover ${item.price} ${CURRENCY}.`);
  }
}

export function esimBusy(what: 'top-up' | 'cancellation'): ServiceError {
  return new ServiceError(409, 'esim_busy', `A ${what} of this eSIM is under way.`);
}

function available(item: CataloguePackage): CataloguePackage {
  if (item.available) return item;
  throw new ServiceError(422, 'package_unavailable', `Package ${item.id} is not available at the moment.`);
}

function required(sale: SaleRecord | undefined): SaleRecord {
  if (sale === undefined) throw new Error('The store has lost a sale that was just stored.');
  return sale;
}
