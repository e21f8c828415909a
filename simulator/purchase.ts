import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OrderRequest } from '#upstream/contract.ts';
import type { Behaviours } from '#simulator/behaviour.ts';
import { CURRENCY, type CataloguePackage } from '#simulator/catalogue.ts';
import type { Clock } from '#simulator/clock.ts';
import type { Dialect } from '#simulator/dialect.ts';
import type { Environment } from '#simulator/environment.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { OrderProgress } from '#simulator/order-progress.ts';
import type { Packages } from '#simulator/packages.ts';
import { jsonAnswer, ServiceError, validationFailed, type Answer } from '#simulator/service/errors.ts';
import type { IdempotencyKeys, StoredResult } from '#simulator/store/keys.ts';
import type { OrderRecord, Orders } from '#simulator/store/orders.ts';
import type { Store } from '#simulator/store/store.ts';
import type { Wallet } from '#simulator/wallet.ts';
import { wireOrder } from '#simulator/wire.ts';

export interface PurchaseParts {
  readonly store: Store;
  readonly orders: Orders;
  readonly keys: IdempotencyKeys;
  readonly wallet: Wallet;
  readonly packages: Packages;
  readonly behaviours: Behaviours;
  readonly progress: OrderProgress;
  readonly identifiers: Identifiers;
  readonly clock: Clock;
  readonly dialect: () => Dialect;
  /** How long an order stays `processing` when its behaviour does not say. */
  readonly processingDelayMs: number;
}

/** One call of `POST /orders`. */
export interface PurchaseCall {
  readonly environment: Environment;
  readonly key: string;
  /** The exact bytes of the body: a key stands for them. */
  readonly rawBody: Uint8Array;
  readonly request: OrderRequest;
  /** Extra time between the checks and the execution, in milliseconds. */
  readonly latencyMs: number;
  /** Ends a wait when the simulator stops. */
  readonly signal: AbortSignal;
}

/** Buys packages. What a repeated or concurrent key does is the dialect's. */
export class Purchases {
  readonly #parts: PurchaseParts;
  /** Keys of purchases under way. Lost with the process, as is their work: nothing is written before the execution. */
  readonly #inUse = new Set<string>();

  constructor(parts: PurchaseParts) {
    this.#parts = parts;
  }

  /** @throws ServiceError when the purchase is refused. */
  async buy(call: PurchaseCall): Promise<Answer> {
    const dialect = this.#parts.dialect();
    if (dialect.checks_balance_before_key) this.#requireBalance(call, this.#requirePackage(call));

    const fingerprint = createHash('sha256').update('createOrder\n').update(call.rawBody).digest('hex');
    const known = this.#knownResult(call, dialect);
    if (known !== undefined) return repeated(known, fingerprint, dialect);

    const slot = `${call.environment}\n${call.key}`;
    if (dialect.serialises_same_key) {
      if (this.#inUse.has(slot)) {
        throw new ServiceError(409, 'idempotency_key_in_use', 'A request with this Idempotency-Key is under way.');
      }
      this.#inUse.add(slot);
    } else if (dialect.reference_unique) {
      // Checked early and not again, as a service without locks does: two at once both pass.
      this.#requireNewReference(call);
    }
    try {
      const wait = dialect.purchase_takes_ms + call.latencyMs;
      if (wait > 0) await delay(wait, undefined, { signal: call.signal });
      return this.#execute(call, fingerprint, dialect);
    } finally {
      if (dialect.serialises_same_key) this.#inUse.delete(slot);
    }
  }

  /** Debit, order, eSIM, event and the key's result: all or nothing. */
  #execute(call: PurchaseCall, fingerprint: string, dialect: Dialect): Answer {
    const { store, keys, clock } = this.#parts;
    return store.transaction(() => {
      const answer = this.#sellOrRefuse(call, dialect);
      if (dialect.key_retention_ms !== 0) {
        const { status, body } = answer;
        keys.save(call.environment, { key: call.key, fingerprint, status, body, createdAt: clock.now() });
      }
      return answer;
    });
  }

  #sellOrRefuse(call: PurchaseCall, dialect: Dialect): Answer {
    try {
      const item = this.#requirePackage(call);
      if (dialect.reference_unique && dialect.serialises_same_key) this.#requireNewReference(call);
      this.#requireBalance(call, item);
      return jsonAnswer(201, wireOrder(this.#sell(call, item)));
    } catch (error) {
      if (error instanceof ServiceError && dialect.stores_4xx) return error.answer();
      throw error;
    }
  }

  #sell(call: PurchaseCall, item: CataloguePackage): OrderRecord {
    const { store, orders, wallet, behaviours, progress, identifiers, clock, processingDelayMs } = this.#parts;
    const behaviour = behaviours.take(call.environment, item);
    const { outcome } = behaviour;
    const later = outcome === 'processing_then_completed' || outcome === 'processing_then_failed';
    const id = identifiers.id('order', store.nextSequence('orders'));
    const reference = { orderId: id, externalOrderId: call.request.external_order_id };
    const debited = behaviour.debited !== false;

    orders.insert({
      id,
      environment: call.environment,
      externalOrderId: call.request.external_order_id,
      packageId: item.id,
      price: item.price,
      currency: CURRENCY,
      creditAfterMs: behaviour.credit_after_ms === undefined ? 0 : behaviour.credit_after_ms,
      dueAt: later ? clock.now() + (behaviour.delay_ms ?? processingDelayMs) : null,
      dueOutcome: outcome === 'processing_then_completed' ? 'completed' : later ? 'failed' : null,
      createdAt: clock.now(),
    });
    if (debited) wallet.debit(call.environment, item.price, { reason: 'order', ...reference });

    const order = required(orders.get(id));
    if (outcome === 'completed') return required(progress.complete(order));
    if (outcome === 'failed_at_once') return required(progress.fail(order, undefined, debited));
    progress.announce(order);
    return order;
  }

  #knownResult(call: PurchaseCall, dialect: Dialect): StoredResult | undefined {
    const known = this.#parts.keys.find(call.environment, call.key);
    if (known === undefined || dialect.key_retention_ms === null) return known;
    return known.createdAt + dialect.key_retention_ms > this.#parts.clock.now() ? known : undefined;
  }

  #requirePackage(call: PurchaseCall): CataloguePackage {
    const item = this.#parts.packages.get(call.request.package_id);
    if (item === undefined) throw validationFailed({ package_id: 'is no package' });
    if (!item.available) {
      throw new ServiceError(422, 'package_unavailable', `Package ${item.id} is not available at the moment.`);
    }
    return item;
  }

  #requireNewReference({ environment, request }: PurchaseCall): void {
    if (this.#parts.orders.byReference(environment, request.external_order_id) === undefined) return;
    throw new ServiceError(409, 'reference_exists', 'There is an order with this external_order_id already.');
  }

  #requireBalance({ environment }: PurchaseCall, item: CataloguePackage): void {
    if (this.#parts.wallet.covers(environment, item.price)) return;
    throw new ServiceError(402, 'insufficient_balance', `The balance does not cover ${item.price} ${CURRENCY}.`);
  }
}

function repeated(known: StoredResult, fingerprint: string, dialect: Dialect): Answer {
  if (known.fingerprint !== fingerprint) {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used with another request.');
  }
  if (dialect.key_replay === 'conflict') {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used already.');
  }
  return { status: known.status, body: known.body, headers: { 'Content-Type': 'application/json' } };
}

function required(order: OrderRecord | undefined): OrderRecord {
  if (order === undefined) throw new Error('an order that was just stored is gone');
  return order;
}
