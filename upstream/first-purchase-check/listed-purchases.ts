/** Listed purchases show the shapes without a charge. */
import type * as z from 'zod';
import { type Money, compareAmounts, isOtherMoney, plainText } from '#domain/money/money.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import {
  type EndpointName,
  NEEDED_FOR,
  NEEDED_UNLESS,
  type ServiceEsim,
  serviceEsim,
  serviceOrder,
  serviceTopup,
  vpnSubscription,
} from '#upstream/contract.ts';
import {
  type FirstPurchaseCheckClient,
  type OwnDebits,
  callName,
  failedCall,
} from '#upstream/first-purchase-check/reads.ts';
import { chargeOf } from '#upstream/mapping/events.ts';

type ListedPurchase =
  | { readonly kind: 'seen'; readonly evidence: string }
  | { readonly kind: 'differs'; readonly problem: string }
  | { readonly kind: 'unseen'; readonly reason: string };

/** One page: an older purchase says less about today's shapes. */
const NEWEST = { since: 0, maxPages: 1 } as const;

export type ListedPurchaseCheck = (
  client: FirstPurchaseCheckClient,
  debits: OwnDebits,
  priceToday: (productId: number | null | undefined) => Money | undefined,
) => Promise<ListedPurchase>;

export const UNIT_UNKNOWN = '; whether the wallet has the unit of the prices is not known yet';

export const checkListedOrder: ListedPurchaseCheck = async (client, debits, priceToday) => {
  const found = pick('listOrders', await client.listRecentOrders(NEWEST), {
    isDone: ({ status }) => status === 'completed',
    lacks: (order) => missingFields(serviceOrder, order),
    debits: ({ id, external_order_id: reference }) => debits.of({ id, reference }),
    price: (order) => chargeOf(order) ?? priceToday(order.package_id),
    ours: 'external_order_id',
  });
  if (found.kind !== 'whole') return found;
  const { id, esim_id: esimId } = found.item;
  const read = await client.getEsim(esimId ?? '');
  const problem = read.ok ? esimProblem(read.value, id) : undefined;
  if (problem !== undefined) return { kind: 'differs', problem: `${callName('getEsim')}: ${problem}` };
  return conclude('listOrders', 'getEsim', read, { ...found, debits });
};

export const checkListedTopup: ListedPurchaseCheck = async (client, debits, priceToday) => {
  const found = pick('listTopups', await client.listRecentTopups(NEWEST), {
    isDone: ({ status }) => status === 'completed',
    lacks: (topup) => missingFields(serviceTopup, topup),
    debits: ({ id }) => debits.of({ id, reference: null }),
    price: (topup) => chargeOf(topup) ?? priceToday(topup.package_id),
  });
  if (found.kind !== 'whole') return found;
  const read = await client.listTopupOptions(found.item.esim_id ?? '');
  return conclude('listTopups', 'listTopupOptions', read, { ...found, debits });
};

export const checkListedSubscription: ListedPurchaseCheck = async (client, debits, priceToday) => {
  const found = pick('listVpnSubscriptions', await client.listRecentVpnSubscriptions(NEWEST), {
    isDone: ({ status }) => status === 'active',
    // A list may omit the access data; the read of one subscription may not.
    lacks: (subscription) => missingFields(vpnSubscription, subscription).filter((field) => field !== 'access'),
    debits: ({ id, external_subscription_id: reference }) => debits.of({ id, reference }),
    price: (bought) => chargeOf(bought) ?? priceToday(bought.vpn_plan_id),
    ours: 'external_subscription_id',
  });
  if (found.kind !== 'whole') return found;
  const read = await client.getVpnSubscription(found.item.id);
  if (read.ok && (read.value.access ?? found.item.access) == null) {
    const problem = `${callName('getVpnSubscription')}: access is missing in an active subscription`;
    return { kind: 'differs', problem };
  }
  return conclude('listVpnSubscriptions', 'getVpnSubscription', read, { ...found, debits });
};

interface PickRule<Item> {
  readonly isDone: (item: Item) => boolean;
  readonly lacks: (item: Item) => readonly string[];
  /** A purchase with a debit is preferred. */
  readonly debits: (item: Item) => readonly Money[];
  readonly price: (item: Item) => Money | undefined;
  /** Empty for purchases made elsewhere, which is no difference. */
  readonly ours?: string;
}

type Picked<Item> =
  | { readonly kind: 'whole'; readonly item: Item; readonly isPaid: boolean; readonly cost: CostSeen }
  | Exclude<ListedPurchase, { kind: 'seen' }>;

function pick<Item>(list: EndpointName, listed: OptionalResult<Listing<Item>>, rule: PickRule<Item>): Picked<Item> {
  if (!listed.ok) return failed(list, listed);
  const done = listed.value.items.filter(rule.isDone);
  if (done.length === 0)
    return { kind: 'unseen', reason: `${callName(list)}: it shows no purchase that was completed` };
  const seen = done.map((item) => {
    const debits = rule.debits(item);
    return { item, isPaid: debits.length > 0, cost: compareCost(debits, rule.price(item)) };
  });
  const problem = seen.find(({ cost }) => cost.problem !== undefined)?.cost.problem;
  if (problem !== undefined) return { kind: 'differs', problem };
  const whole = seen.filter(({ item }) => rule.lacks(item).length === 0);
  const picked = whole.find(({ isPaid }) => isPaid) ?? whole[0];
  if (picked !== undefined) return { kind: 'whole', ...picked };
  const lacking = done.map(rule.lacks);
  const fields = lacking.find((each) => each.every((field) => field === rule.ours));
  const text = (names: readonly string[]) =>
    `${callName(list)}: completed purchases lack ${names.map((name) => `data[].${name}`).join(' and ')}`;
  return fields === undefined
    ? { kind: 'differs', problem: text((lacking[0] ?? []).filter((field) => field !== rule.ours)) }
    : { kind: 'unseen', reason: text(fields) };
}

interface CostSeen {
  readonly evidence: string;
  /** A clause that begins with the call. */
  readonly problem?: string;
}

/** Another debit may name the purchase, too, such as that of a top-up. */
function compareCost(debits: readonly Money[], price: Money | undefined): CostSeen {
  const [debit] = debits;
  if (price === undefined || debit === undefined) return { evidence: UNIT_UNKNOWN };
  const results = debits.map((each) => compareAmounts(price, each));
  const evidence = results.includes('equal')
    ? '; its debit is its price'
    : `; its debit is ${plainText(debit)}, its price ${plainText(price)}`;
  if (!results.every(isOtherMoney)) return { evidence };
  const field = results[0] === 'other_currency' ? 'currency' : 'amount';
  const text = `data[].${field} of a debit differs: ${plainText(debit)} for a purchase of ${plainText(price)}`;
  return { evidence, problem: `${callName('listWalletTransactions')}: ${text}` };
}

/** A clause: what prevents the delivery or the refund of the order. */
function esimProblem(esim: ServiceEsim, orderId: string): string | undefined {
  const { misstated = [], activation_code: code } = esim;
  if (misstated.includes('activation_code')) return 'activation_code cannot be read';
  if (code == null) return 'activation_code of a completed order has no value yet';
  const absent = absentFields(serviceEsim, esim);
  if (absent.length > 0) return `${absent.join(' and ')} cannot be read, not even as null`;
  const { order_id: named } = esim;
  return named == null || named === orderId ? undefined : 'order_id is not the id of the order that names the eSIM';
}

function conclude(
  list: EndpointName,
  follow: EndpointName,
  read: OptionalResult<unknown>,
  { isPaid, cost, debits }: { readonly isPaid: boolean; readonly cost: CostSeen; readonly debits: OwnDebits },
): ListedPurchase {
  if (!read.ok) return failed(follow, read);
  const shown = `${callName(list)} shows a completed purchase, and ${callName(follow)} reads well`;
  const evidence = `${shown}${cost.evidence}`;
  if (isPaid || debits.state === 'off') return { kind: 'seen', evidence };
  if (debits.state === 'unread') return { kind: 'unseen', reason: debits.reason };
  const fields = debits.fields.map((name) => `data[].${name}`).join(' or ');
  const text = `${callName('listWalletTransactions')}: no debit names the completed purchase in ${fields}`;
  // An old debit may be on a later page. Debits without any name have another shape.
  return debits.state === 'nameless' ? { kind: 'differs', problem: text } : { kind: 'unseen', reason: text };
}

function failed(
  name: EndpointName,
  result: Extract<OptionalResult<unknown>, { ok: false }>,
): Exclude<ListedPurchase, { kind: 'seen' }> {
  const text = failedCall(name, result);
  const isDrift = result.kind === 'failure' && result.failure === 'contract_drift';
  return isDrift ? { kind: 'differs', problem: text } : { kind: 'unseen', reason: text };
}

const at = (value: object, name: string): unknown => Reflect.get(value, name);

function missingFields(schema: z.ZodObject, value: object): string[] {
  const isEmpty = (name: string) => (at(value, name) ?? '') === '';
  return marked(schema).flatMap(([name, alternatives]) => {
    return isEmpty(name) && alternatives.every(isEmpty) ? [name] : [];
  });
}

/** A null is a value. */
function absentFields(schema: z.ZodObject, value: object): string[] {
  return marked(schema).flatMap(([name]) => (at(value, name) === undefined ? [name] : []));
}

function marked(schema: z.ZodObject): (readonly [name: string, alternatives: readonly string[]])[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const marks = (field as z.ZodType).meta() ?? {};
    const alternatives = marks[NEEDED_UNLESS];
    const names = Array.isArray(alternatives) ? alternatives.map(String) : [];
    return marks[NEEDED_FOR] === undefined ? [] : [[name, names] as const];
  });
}
