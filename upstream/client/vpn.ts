import { isDefinite } from '#domain/work/failure.ts';
import type { Calls, ListBounds, Listing, OptionalResult, SendLease } from '#upstream/client/calls.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { sameId, sameWhereNamed } from '#upstream/client/identity.ts';
import { findBy, listRecent, type Recent } from '#upstream/client/searches.ts';
import { IDEMPOTENCY_KEY_HEADER, type VpnPlan, type VpnSubscription } from '#upstream/contract.ts';

/** The result of a successful cancellation call. */
type VpnCancellation =
  /** The subscription as the service reports it now; its status shows whether it has ended. */
  | { readonly kind: 'accepted'; readonly subscription: VpnSubscription }
  /** The subscription had ended before. A call after a lost answer meets this, and it counts as success. */
  | { readonly kind: 'already_cancelled' };

/** Calls about VPN plans and subscriptions. All ids are those of the service. */
export interface VpnCalls {
  /** Lists the VPN plans; read before every order. */
  listVpnPlans(bounds?: ListBounds): Promise<ServiceResult<Listing<VpnPlan>>>;
  /**
   * Buys a subscription.
   *
   * @param order.body the stored bytes of the attempt, sent unchanged.
   * @param order.reference the `external_subscription_id` in those bytes. An answer that names another one is contract
   *   drift.
   * @param order.vpnPlanId the plan in those bytes. An answer that names another one is contract drift.
   */
  createVpnOrder(
    order: SendLease & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly reference: string;
      readonly vpnPlanId: number;
    },
  ): Promise<ServiceResult<VpnSubscription>>;
  /** Needs `vpn_subscription_read`. Includes the access data, if the service returns it. */
  getVpnSubscription(id: string): Promise<OptionalResult<VpnSubscription>>;
  /**
   * Needs `vpn_subscription_list`. Returns only subscriptions that name this reference, also when the service ignores
   * the filter.
   */
  findVpnSubscriptionsByReference(reference: string): Promise<OptionalResult<Listing<VpnSubscription>>>;
  /**
   * Needs `vpn_subscription_list`. Returns the newest subscriptions. Their time is the start of the subscription, not
   * of the order.
   */
  listRecentVpnSubscriptions(recent: Recent): Promise<OptionalResult<Listing<VpnSubscription>>>;
  /**
   * Cancels a subscription. The call has no Idempotency-Key: it may be repeated after a lost answer. When its result is
   * unknown, the subscription is read once, within a deadline of its own.
   */
  cancelVpnSubscription(id: string): Promise<ServiceResult<VpnCancellation>>;
}

/** The calls about VPN plans and subscriptions. */
export function vpnCalls(calls: Calls): VpnCalls {
  return {
    listVpnPlans: async (bounds) => await calls.list('listVpnPlans', bounds),
    createVpnOrder: async ({ idempotencyKey, body, reference, vpnPlanId, leaseLeftMs }) =>
      await calls.one(
        'createVpnOrder',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs, names: reference },
        sameWhereNamed({ external_subscription_id: reference, vpn_plan_id: vpnPlanId }),
      ),
    getVpnSubscription: async (id) => await calls.optional('getVpnSubscription', { id }, sameId(id)),
    findVpnSubscriptionsByReference: async (reference) =>
      await findBy(calls, 'listVpnSubscriptions', 'external_subscription_id', reference),
    listRecentVpnSubscriptions: async (recent) =>
      await listRecent(calls, 'listVpnSubscriptions', recent, (subscription) => subscription.started_at),
    cancelVpnSubscription: async (id) => {
      const result = await calls.one('cancelVpnSubscription', { id }, sameId(id));
      if (result.ok) return { ...result, value: { kind: 'accepted', subscription: result.value } };
      const { status } = result;
      if (status !== undefined && saysCancelledAlready(result))
        return { ok: true, value: { kind: 'already_cancelled' }, status };
      if (isDefinite(result.failure)) return result;
      // The result is unknown. A read that shows the subscription as cancelled proves the cancellation.
      const read = await calls.optional('getVpnSubscription', { id }, sameId(id));
      if (!read.ok || read.value.status !== 'cancelled') return result;
      return { ...read, value: { kind: 'accepted', subscription: read.value } };
    },
  };
}

function saysCancelledAlready({ status, code }: ServiceFailure): boolean {
  return code === 'already_cancelled' && (status === 409 || status === 422);
}
