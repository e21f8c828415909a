import { notePrice } from '#cli/sandbox-tour/amounts.ts';
import type { Leg } from '#cli/sandbox-tour/leg.ts';
import { type SecondPurchase, clause, noteRepeat, noteTime, observeRefusal } from '#cli/sandbox-tour/observations.ts';
import {
  type BoughtEsim,
  type PlacedOrder,
  deliveredBy,
  followOrder,
  howItEnded,
  newOrderRequest,
} from '#cli/sandbox-tour/purchases.ts';
import { lapse } from '#cli/terminal/output.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServiceOrder, ServicePackage } from '#upstream/contract.ts';

export const PURPOSES = ['untouched', 'installed', 'active', 'consumed', 'recharged'] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface Bought {
  readonly first: PlacedOrder;
  readonly package: ServicePackage;
  readonly esims: Readonly<Partial<Record<Purpose, BoughtEsim>>>;
}

export interface OrderChoices {
  /** Undefined: the first one for sale that is completed. */
  readonly packageId?: number | undefined;
  readonly furtherPackageIds: readonly number[];
}

// A sandbox may have packages that fail on purpose. Several in a row have another cause.
const MOST_CANDIDATES = 3;

/** These orders also serve to repeat keys and references. */
export async function orderLeg(
  leg: Leg,
  packages: readonly ServicePackage[],
  { packageId, furtherPackageIds }: OrderChoices,
): Promise<Bought | undefined> {
  const candidates = packages.filter(({ id, available }) => (packageId === undefined ? available : id === packageId));
  const first = await buyFirst(leg, candidates.slice(0, MOST_CANDIDATES));
  if (first === undefined) return undefined;
  const { placed, esim, item } = first;
  const again = await leg.client.createOrder(placed);
  noteRepeat(leg, 'order', leg.now() - placed.sentAtMs, again, ({ id }) => id === placed.order.id);
  leg.observations.repeatedReference = await repeatReference(leg, placed);
  const second = await sendTwiceAtOnce(leg, item.id);
  const esims = new Map<Purpose, BoughtEsim>([['untouched', esim]]);
  if (second !== undefined) esims.set('installed', second);
  for (const purpose of PURPOSES.filter((each) => !esims.has(each))) {
    const bought = await buy(leg, item.id, `an order for the eSIM that will be ${purpose}`);
    if (bought !== undefined) esims.set(purpose, bought.esim);
  }
  for (const id of furtherPackageIds) await buyFurther(leg, id);
  return { first: placed, package: item, esims: Object.fromEntries(esims) };
}

async function buyFirst(leg: Leg, items: readonly ServicePackage[]) {
  if (items.length === 0) leg.step('POST /orders', COMPLETED).failed('no such package is for sale');
  for (const item of items) {
    const bought = await buy(leg, item.id, 'POST /orders', `package ${item.id}: `);
    if (bought === undefined) continue;
    notePrice(leg, 'order', item, bought.esim.order);
    noteTime(leg, bought.placed.order.created_at, leg.now());
    return { ...bought, item };
  }
  return undefined;
}

const COMPLETED = 'an order that is completed, with an eSIM';

async function buy(leg: Leg, packageId: number, what: string, named = '') {
  const step = leg.step(what, COMPLETED);
  const request = newOrderRequest(leg, packageId);
  const placed = await leg.client.createOrder(request);
  if (!placed.ok) {
    step.failed(`${named}${clause(placed.detail)}`);
    return undefined;
  }
  const order = await followOrder(leg, placed.value, request.reference);
  const esim = deliveredBy(request, order);
  if (esim === undefined) {
    step.failed(`${named}${howItEnded(order)}`);
    return undefined;
  }
  step.ok(`${named}${throughProcessing(placed.value.status)}completed`);
  return { placed: { ...request, order: placed.value }, esim };
}

/** With unique references the service refuses the second order, or returns the existing one. */
async function repeatReference(leg: Leg, placed: PlacedOrder): Promise<SecondPurchase> {
  const step = leg.step('the same external_order_id under another key', 'it buys nothing; nothing depends on it');
  const result = await leg.client.createOrder({ ...placed, idempotencyKey: leg.newId() });
  const seen = judgeReference(placed.order.id, result);
  if (seen.outcome === 'unclear') step.skipped(`${seen.detail}, which proves nothing`);
  else step.ok(seen.detail);
  return seen;
}

function judgeReference(firstId: string, result: ServiceResult<ServiceOrder>): SecondPurchase {
  if (!result.ok)
    return { outcome: observeRefusal(result) === 'refused' ? 'one' : 'unclear', detail: clause(result.detail) };
  if (result.value.id === firstId) return { outcome: 'one', detail: 'it returned the order that has the reference' };
  return { outcome: 'two', detail: 'it bought another one' };
}

async function sendTwiceAtOnce(leg: Leg, packageId: number): Promise<BoughtEsim | undefined> {
  const { client, configured } = leg;
  const request = newOrderRequest(leg, packageId);
  const results = await Promise.all([client.createOrder(request), client.createOrder(request)]);
  const orders = results.flatMap((result) => (result.ok ? [result.value] : []));
  const seen = judgeConcurrent(new Set(orders.map(({ id }) => id)).size, results.find((result) => !result.ok)?.detail);
  leg.observations.concurrentSends = seen;
  const step = leg.step('the same order and key twice at the same moment', 'one purchase');
  if (seen.outcome === 'unclear') step.failed(seen.detail);
  else if (seen.outcome === 'one' || !configured.key_replay) step.ok(seen.detail);
  else step.drift(`${seen.detail}; SERVICE_MISSING_CAPABILITIES=key_replay prevents resends`);
  const [order] = orders;
  return order === undefined ? undefined : deliveredBy(request, await followOrder(leg, order, request.reference));
}

function judgeConcurrent(orders: number, refusal: string | undefined): SecondPurchase {
  if (orders === 2) return { outcome: 'two', detail: 'it bought two' };
  if (orders === 0) return { outcome: 'unclear', detail: clause(refusal ?? 'neither was answered') };
  const second = refusal === undefined ? 'both got the same order' : `one was bought; the other: ${clause(refusal)}`;
  return { outcome: 'one', detail: second };
}

/** Any final status is as expected. */
async function buyFurther(leg: Leg, packageId: number): Promise<void> {
  const step = leg.step(`an order of package ${packageId}`, 'a final status: completed, failed, or refused');
  const request = newOrderRequest(leg, packageId);
  const placed = await leg.client.createOrder(request);
  if (!placed.ok) {
    const definite = FAILURE_CLASSES[placed.failure].certainty === 'definite' && placed.status !== undefined;
    return definite ? step.ok(clause(placed.detail)) : step.failed(clause(placed.detail));
  }
  const order = await followOrder(leg, placed.value, request.reference);
  if (order.status === 'processing') return step.skipped(howItEnded(order));
  const end = `${throughProcessing(placed.value.status)}${howItEnded(order)}`;
  step.ok(order.status === 'failed' ? `${end}, ${await credited(leg, request.reference)}` : end);
}

async function credited({ client }: Leg, reference: string): Promise<string> {
  const movements = await client.listWalletTransactions({ reference });
  if (!movements.ok) return 'and the wallet cannot be read';
  const own = movements.value.items.filter((item) => item.external_order_id === reference);
  if (!own.some(({ type }) => type === 'debit')) return 'never debited';
  return own.some(({ type }) => type === 'credit') ? 'credited back' : 'not credited back';
}

function throughProcessing(first: string): string {
  return first === 'processing' ? 'processing, then ' : '';
}

/** The service may have forgotten a key of this age. */
export async function keysLeg(leg: Leg, first: PlacedOrder, keyAgeMs: number): Promise<void> {
  const { client, now, delay } = leg;
  const { resendWindowMs } = leg.observations;
  const left = first.sentAtMs + keyAgeMs - now();
  if (left > 0) await delay(left);
  const ageMs = now() - first.sentAtMs;
  const again = await client.createOrder(first);
  const outcome = noteRepeat(leg, 'order', ageMs, again, ({ id }) => id === first.order.id);
  if (ageMs < resendWindowMs && outcome === 'same') {
    leg
      .step('an older key', `it is known for the ${lapse(resendWindowMs)} of the resend window`)
      .skipped(`not tried; --key-age ${Math.ceil(resendWindowMs / 60_000)}m does`);
  }
}
