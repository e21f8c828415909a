/** Purchases that the service lists already, made here or elsewhere: they show the shapes without a charge. */
import type * as z from 'zod';
import type { PurchaseKind } from '#domain/first-contact.ts';
import type { Listing, OptionalResult, ServiceClient } from '#upstream/client.ts';
import {
  NEEDED_FOR,
  NEEDED_UNLESS,
  serviceOrder,
  serviceTopup,
  vpnSubscription,
  type EndpointName,
} from '#upstream/contract.ts';
import { callName, failedCall } from '#upstream/first-contact/call-name.ts';

/** What a list of purchases showed; each text is a clause that begins with a call. */
export type ListedPurchase =
  | { readonly kind: 'seen'; readonly evidence: string }
  | { readonly kind: 'differs'; readonly problem: string }
  | { readonly kind: 'unseen'; readonly reason: string };

export type PurchaseReads = Pick<
  ServiceClient,
  | 'getEsim'
  | 'getVpnSubscription'
  | 'listRecentOrders'
  | 'listRecentTopups'
  | 'listRecentVpnSubscriptions'
  | 'listTopupOptions'
>;

/** The newest hundred or so: an older purchase says less of today's shapes. */
const NEWEST = { since: 0, maxPages: 1 } as const;

/** By kind, looks for one purchase that was seen through, and reads what it delivered. */
export const LISTED_PURCHASES: Readonly<Record<PurchaseKind, (client: PurchaseReads) => Promise<ListedPurchase>>> = {
  order: async (client) => {
    const found = pick('listOrders', await client.listRecentOrders(NEWEST), {
      isDone: ({ status }) => status === 'completed',
      lacks: (order) => missingFields(serviceOrder, order),
      ours: 'external_order_id',
    });
    if (found.kind !== 'whole') return found;
    return follow('listOrders', 'getEsim', await client.getEsim(found.item.esim_id ?? ''));
  },
  topup: async (client) => {
    const found = pick('listTopups', await client.listRecentTopups(NEWEST), {
      isDone: ({ status }) => status === 'completed',
      lacks: (topup) => missingFields(serviceTopup, topup),
    });
    if (found.kind !== 'whole') return found;
    return follow('listTopups', 'listTopupOptions', await client.listTopupOptions(found.item.esim_id ?? ''));
  },
  vpn_subscription: async (client) => {
    const found = pick('listVpnSubscriptions', await client.listRecentVpnSubscriptions(NEWEST), {
      isDone: ({ status }) => status === 'active',
      // A list may leave the access data out; the read of one subscription may not.
      lacks: (subscription) => missingFields(vpnSubscription, subscription).filter((field) => field !== 'access'),
      ours: 'external_subscription_id',
    });
    if (found.kind !== 'whole') return found;
    const read = await client.getVpnSubscription(found.item.id);
    if (read.ok && (read.value.access ?? found.item.access) == null) {
      return {
        kind: 'differs',
        problem: `${callName('getVpnSubscription')}: access is missing in an active subscription`,
      };
    }
    return follow('listVpnSubscriptions', 'getVpnSubscription', read);
  },
};

interface PickRule<Item> {
  readonly isDone: (item: Item) => boolean;
  readonly lacks: (item: Item) => readonly string[];
  /** The field of our own reference: it is empty in what was bought elsewhere, which proves nothing. */
  readonly ours?: string;
}

type Picked<Item> = { readonly kind: 'whole'; readonly item: Item } | Exclude<ListedPurchase, { kind: 'seen' }>;

function pick<Item>(list: EndpointName, listed: OptionalResult<Listing<Item>>, rule: PickRule<Item>): Picked<Item> {
  if (!listed.ok) {
    const text = failedCall(list, listed);
    const isDrift = listed.kind === 'failure' && listed.failure === 'contract_drift';
    return isDrift ? { kind: 'differs', problem: text } : { kind: 'unseen', reason: text };
  }
  const done = listed.value.items.filter(rule.isDone);
  if (done.length === 0)
    return { kind: 'unseen', reason: `${callName(list)}: it shows no purchase that was completed` };
  const whole = done.find((item) => rule.lacks(item).length === 0);
  if (whole !== undefined) return { kind: 'whole', item: whole };
  const lacking = done.map(rule.lacks);
  const fields = lacking.find((each) => each.every((field) => field === rule.ours));
  const text = (names: readonly string[]) =>
    `${callName(list)}: completed purchases lack ${names.map((name) => `data[].${name}`).join(' and ')}`;
  return fields === undefined
    ? { kind: 'differs', problem: text(lacking[0] ?? []) }
    : { kind: 'unseen', reason: text(fields) };
}

/** Reads on from a purchase that was found; only a shape that differs speaks against it. */
function follow(list: EndpointName, read: EndpointName, result: OptionalResult<unknown>): ListedPurchase {
  if (result.ok)
    return { kind: 'seen', evidence: `${callName(list)} shows a completed purchase, and ${callName(read)} reads well` };
  const text = failedCall(read, result);
  const isDrift = result.kind === 'failure' && result.failure === 'contract_drift';
  return isDrift ? { kind: 'differs', problem: text } : { kind: 'unseen', reason: text };
}

/** The fields of an answer that the contract marks as needed, and that are empty with all of their alternatives. */
export function missingFields(schema: z.ZodObject, value: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const marks: Readonly<Record<string, unknown>> = (field as z.ZodType).meta() ?? {};
    if (marks[NEEDED_FOR] === undefined || value[name] != null) return [];
    const alternatives = marks[NEEDED_UNLESS];
    const isReplaced = Array.isArray(alternatives) && alternatives.some((other) => value[String(other)] != null);
    return isReplaced ? [] : [name];
  });
}
