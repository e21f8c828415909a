import { isDefinite } from '#domain/work/failure.ts';
import {
  findBy,
  listRecent,
  sameId,
  sameWhereNamed,
  type Calls,
  type Listing,
  type OptionalResult,
  type Recent,
  type SoleRight,
} from '#upstream/client/calls.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { IDEMPOTENCY_KEY_HEADER, type VpnPlan, type VpnSubscription } from '#upstream/contract.ts';

/** How the service took a cancellation. */
type VpnCancellation =
  /** What the service says of the subscription now; its status tells whether it has ended. */
  | { readonly kind: 'accepted'; readonly subscription: VpnSubscription }
  /** It had ended before: what a call after a lost answer meets, and as good as the answer. */
  | { readonly kind: 'already_cancelled' };

/** VPN plans and subscriptions. Ids are the service's. */
export interface VpnCalls {
  /** Read before every order. */
  listVpnPlans(): Promise<ServiceResult<Listing<VpnPlan>>>;
  /**
   * Buys a subscription.
   *
   * @param order.body the stored bytes of the attempt, sent as they are.
   * @param order.reference the `external_subscription_id` in those bytes, and
   * @param order.vpnPlanId the plan: an answer about another is contract drift.
   */
  createVpnOrder(
    order: SoleRight & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly reference: string;
      readonly vpnPlanId: number;
    },
  ): Promise<ServiceResult<VpnSubscription>>;
  /** Needs `vpn_subscription_read`. With access data, where the service gives it. */
  getVpnSubscription(id: string): Promise<OptionalResult<VpnSubscription>>;
  /** Needs `vpn_subscription_list`. Only those that name this reference, also when the service ignores the filter. */
  findVpnSubscriptionsByReference(reference: string): Promise<OptionalResult<Listing<VpnSubscription>>>;
  /** Needs `vpn_subscription_list`. The newest subscriptions; they say when they began, not when they were ordered. */
  listRecentVpnSubscriptions(recent: Recent): Promise<OptionalResult<Listing<VpnSubscription>>>;
  /**
   * Ends a subscription. Carries no Idempotency-Key: it may be called again after a lost answer. When what came of it
   * is unknown, the subscription is read once, within a deadline of its own.
   */
  cancelVpnSubscription(id: string): Promise<ServiceResult<VpnCancellation>>;
}

export function vpnCalls(calls: Calls): VpnCalls {
  return {
    listVpnPlans: async () => await calls.list('listVpnPlans'),
    createVpnOrder: async ({ idempotencyKey, body, reference, vpnPlanId, leaseLeftMs }) =>
      await calls.one(
        'createVpnOrder',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs },
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
      // The answer was lost, or says nothing: a read that shows it cancelled is as good as the answer.
      const read = await calls.optional('getVpnSubscription', { id }, sameId(id));
      if (!read.ok || read.value.status !== 'cancelled') return result;
      return { ...read, value: { kind: 'accepted', subscription: read.value } };
    },
  };
}

function saysCancelledAlready({ status, code }: ServiceFailure): boolean {
  return code === 'already_cancelled' && (status === 409 || status === 422);
}
