import { isFormOf } from '#domain/work/identifiers.ts';
import type { Caller } from '#upstream/client/call.ts';
import { Calls, type ClientOptions, type ClientSession, refusedBeforeSending } from '#upstream/client/calls.ts';
import type { Match, ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { findBy, list, listRecent, type ListBounds, type Recent } from '#upstream/client/lists.ts';
import { simulationRequestBytes } from '#upstream/client/request-bytes.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  updateQuery,
  type SimulatedState,
  type VpnSubscription,
  type WalletTransaction,
} from '#upstream/contract.ts';

export type { OptionalResult, Unsupported } from '#upstream/client/calls.ts';
export type { Listing } from '#upstream/client/lists.ts';

interface Send {
  readonly idempotencyKey: string;
  /** The stored bytes of the attempt, sent unchanged. */
  readonly body: Buffer;
  /** Remaining milliseconds of the lease. When they do not exceed the deadline of the call, nothing is sent. */
  readonly leaseLeftMs?: () => number;
}

type VpnCancellation =
  | { readonly kind: 'accepted'; readonly subscription: VpnSubscription }
  /** The subscription had ended before. A call after a lost answer meets this, and it counts as success. */
  | { readonly kind: 'already_cancelled' };

/**
 * No call throws: each resolves to a success or to a member of the failure catalogue. A deadline covers all pages of a
 * list. Only a request that was answered with 401 is repeated: once, with the same bytes and a new token.
 *
 * A 404 of an {@link OptionalResult} by id means that there is no such record. A search returns only records that name
 * what was searched, also when the service ignores the filter.
 */
export type ServiceClient = ReturnType<typeof createServiceClient>;

export function createServiceClient(call: Caller, session: ClientSession, options: ClientOptions) {
  const calls = new Calls(call, session, options);
  const keyed = (key: string) => ({ [IDEMPOTENCY_KEY_HEADER]: key });
  const purchase = ({ idempotencyKey, body, leaseLeftMs }: Send, names: string) => {
    return { body, headers: keyed(idempotencyKey), leaseLeftMs, names };
  };
  return {
    listPackages: async (bounds?: ListBounds) => await list(calls, 'listPackages', bounds),
    /** Sends a token only when the service requires one. */
    listPublicPackages: async (bounds?: ListBounds) => await list(calls, 'listPublicPackages', bounds),

    /** An answer that names another reference or package than the bytes is contract drift. */
    createOrder: async (order: Send & { readonly reference: string; readonly packageId: number }) => {
      const match = sameWhereNamed({ external_order_id: order.reference, package_id: order.packageId });
      return await calls.one('createOrder', purchase(order, order.reference), match);
    },
    getOrder: async (id: string) => await calls.one('getOrder', { id }, sameId(id)),
    findOrdersByReference: async (reference: string) =>
      await findBy(calls, 'listOrders', 'external_order_id', reference),
    listRecentOrders: async (recent: Recent) =>
      await listRecent(calls, 'listOrders', recent, (order) => order.created_at),

    getEsim: async (id: string) => await calls.one('getEsim', { id }, esimUnderPath('id', id)),
    getEsimUsage: async (id: string) => await calls.one('getEsimUsage', { id }, esimUnderPath('esim_id', id)),

    getWallet: async () => await calls.one('getWallet', {}),
    /**
     * All transactions: a debit without a reference may be the one that the caller looks for. `isEnough` ends the
     * reading, which is complete only after the last page.
     */
    listWalletTransactions: async (
      filter:
        | { readonly reference: string }
        | { readonly since: number }
        | { readonly isEnough: (page: readonly WalletTransaction[]) => boolean },
      bounds?: ListBounds,
    ) =>
      await list(calls, 'listWalletTransactions', {
        ...bounds,
        ...('reference' in filter && { filter: { external_order_id: filter.reference } }),
        ...('since' in filter && { filter: { since: new Date(filter.since).toISOString() } }),
        ...('isEnough' in filter && { isEnough: filter.isEnough }),
      }),

    listTopupOptions: async (id: string) => await list(calls, 'listTopupOptions', { id }),
    /** An answer that names another eSIM or package than the bytes is contract drift. */
    createTopup: async (topup: Send & { readonly esimId: string; readonly packageId: number }) => {
      const match = sameWhereNamed({ esim_id: topup.esimId, package_id: topup.packageId });
      return await calls.one('createTopup', purchase(topup, topup.esimId), match);
    },
    getTopup: async (id: string) => await calls.one('getTopup', { id }, sameId(id)),
    findTopupsOfEsim: async (esimId: string) => await findBy(calls, 'listTopups', 'esim_id', esimId),
    listRecentTopups: async (recent: Recent) =>
      await listRecent(calls, 'listTopups', recent, (topup) => topup.created_at),

    /** After a lost answer, `already_cancelled` may refer to our own first call: look the refund up. */
    cancelEsim: async (cancellation: Omit<Send, 'body'> & { readonly esimId: string }) => {
      const { idempotencyKey, esimId, leaseLeftMs } = cancellation;
      const match = esimUnderPath('esim_id', esimId);
      return await calls.one('cancelEsim', { id: esimId, headers: keyed(idempotencyKey), leaseLeftMs }, match);
    },
    getRefund: async (id: string) => await calls.one('getRefund', { id }, sameId(id)),
    findRefundsOfEsim: async (esimId: string) => await findBy(calls, 'listRefunds', 'esim_id', esimId),
    /** In production it fails without sending anything. */
    simulateEsim: async (id: string, state: SimulatedState) =>
      await calls.one('simulateEsim', { id, body: simulationRequestBytes(state) }, esimUnderPath('id', id)),

    listVpnPlans: async (bounds?: ListBounds) => await list(calls, 'listVpnPlans', bounds),
    /** An answer that names another reference or plan than the bytes is contract drift. */
    createVpnOrder: async (order: Send & { readonly reference: string; readonly vpnPlanId: number }) => {
      const match = sameWhereNamed({ external_subscription_id: order.reference, vpn_plan_id: order.vpnPlanId });
      return await calls.one('createVpnOrder', purchase(order, order.reference), match);
    },
    getVpnSubscription: async (id: string) => await calls.one('getVpnSubscription', { id }, sameId(id)),
    findVpnSubscriptionsByReference: async (reference: string) =>
      await findBy(calls, 'listVpnSubscriptions', 'external_subscription_id', reference),
    /** Their time is the start of the subscription, not of the order. */
    listRecentVpnSubscriptions: async (recent: Recent) =>
      await listRecent(calls, 'listVpnSubscriptions', recent, (subscription) => subscription.started_at),
    cancelVpnSubscription: async (id: string) => await cancelVpnSubscription(calls, id),

    /** A version that is not dotted numbers fails without sending anything. */
    getLatestUpdate: async (installed: { readonly currentVersion: string; readonly channel: string }) => {
      const query = updateQuery.safeParse({ current_version: installed.currentVersion, channel: installed.channel });
      if (query.success) return await calls.one('getLatestUpdate', { query: query.data });
      const fields = [...new Set(query.error.issues.map((issue) => issue.path.join('.')))].join(' and ');
      return refusedBeforeSending(`The update check does not take this ${fields} (a version is dotted numbers)`);
    },
    /** Checks only that it is an OpenAPI document. */
    getOpenApi: async () => await calls.one('getOpenApi', {}),
    /** The service shows the secret only in this answer: store it before anything else. After a lost answer, rotate. */
    createWebhookSecret: async () => await calls.one('createWebhookSecret', {}),
    rotateWebhookSecret: async () => await calls.one('rotateWebhookSecret', {}),
  };
}

/**
 * Has no Idempotency-Key and may be repeated. One read after a failure can prove that the subscription has ended: in
 * which way the service refuses then is not stated.
 */
async function cancelVpnSubscription(calls: Calls, id: string): Promise<ServiceResult<VpnCancellation>> {
  const result = await calls.one('cancelVpnSubscription', { id }, sameId(id));
  if (result.ok) return { ...result, value: { kind: 'accepted', subscription: result.value } };
  const { status } = result;
  if (status !== undefined && saysCancelledAlready(result))
    return { ok: true, value: { kind: 'already_cancelled' }, status };
  const read = await calls.one('getVpnSubscription', { id }, sameId(id));
  if (!read.ok || (read.value.status !== 'cancelled' && read.value.status !== 'expired')) return result;
  return { ...read, value: { kind: 'accepted', subscription: read.value } };
}

function saysCancelledAlready({ status, code }: ServiceFailure): boolean {
  return code === 'already_cancelled' && (status === 409 || status === 422);
}

function sameId(id: string): Match<{ readonly id: string }> {
  return (value) => (value.id === id ? {} : { contradiction: 'its id is not the one that was asked for' });
}

/** The record may have another id, such as its ICCID. Code that stores it must check that no other eSIM has it. */
function esimUnderPath<Field extends string>(
  field: Field,
  id: string,
): Match<{ readonly [Name in Field]?: string | null | undefined }> {
  return (value) => ((value[field] ?? id) === id ? {} : { differing: [field] });
}

type How = 'reference' | 'esim' | 'equal';

const HOW: Readonly<Record<string, How>> = {
  external_order_id: 'reference',
  external_subscription_id: 'reference',
  esim_id: 'esim',
};

/**
 * A field that the answer lacks is accepted. The answer came on our connection, to our key, so our reference may have
 * another case or be cut at its end, and the eSIM may have another id. Another product contradicts the request.
 */
function sameWhereNamed<Fields extends Readonly<Record<string, string | number>>>(
  sent: Fields,
): Match<{ readonly [Field in keyof Fields]?: Fields[Field] | null | undefined }> {
  return (value) => {
    const others = Object.entries(sent).filter(([field, ours]) => (value[field] ?? ours) !== ours);
    const wrong = others.filter(([field, ours]) => !isSame(HOW[field] ?? 'equal', String(ours), String(value[field])));
    if (wrong.length > 0) return { contradiction: `its ${named(wrong).join(' and ')} is not what was sent` };
    return others.length === 0 ? {} : { differing: named(others) };
  };
}

function isSame(how: How, ours: string, theirs: string): boolean {
  return how === 'esim' || (how === 'reference' && isFormOf(ours, theirs));
}

function named(entries: readonly (readonly [string, unknown])[]): readonly string[] {
  return entries.map(([field]) => field);
}
