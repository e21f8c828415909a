import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, idInPath } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import type { Offers } from '#api/offers/offers.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import { wantedOf } from '#api/problems/purchase-not-possible.ts';
import { subscriptionExpansions, vpnAccessOperation } from '#api/vpn/vpn-access.ts';
import {
  vpnSubscriptionCsv,
  vpnSubscriptionInput,
  vpnSubscriptionJson,
  vpnSubscriptionListQuery,
  vpnSubscriptionOutput,
} from '#api/vpn/vpn-subscription-schemas.ts';
import {
  callerReference,
  createWork,
  creationAnswers,
  creationCall,
  retryAfterHeader,
  waitingHeaders,
} from '#api/work/create-work.ts';
import { plainWork } from '#api/work/expand.ts';
import { replyAfterPreferredWait, retryAfter } from '#api/work/long-poll.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/work-input.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { findersOf, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter } from '#api/work/work-schemas.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { type StoredVpnSubscription, vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { REFUSALS } from '#domain/operator/operator-actions.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { acceptVpnSubscription } from '#fulfilment/accept/work.ts';
import { cancelVpnSubscription } from '#fulfilment/work/subscription.ts';

const REQUESTED = { cancel_requested_at: '2030-02-03T09:00:00.000Z' };
const CANCELLED_AT = '2030-02-03T09:00:05.000Z';

export function vpnSubscriptionOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, keyRing, now } = dependencies;
  const { path } = KINDS.vpn_subscription;
  const show = (stored: StoredVpnSubscription, owner: Owner) => {
    const customer = readCustomer(keyRing, 'vpn_subscription', stored.row.id, stored.row);
    return workFor(owner, vpnSubscriptionJson(withOwnSuccessor(owner, stored), customer));
  };
  const resource: WorkResource = {
    kind: 'vpn_subscription',
    name: 'VpnSubscription',
    output: vpnSubscriptionOutput,
    expansions: subscriptionExpansions,
    priceCurrency: (found) => offers.currencyOf('plans', found),
    resolution: {
      serviceId: {
        field: 'service_subscription_id',
        description: 'With `bought`: the subscription at the service, if it is not known yet.',
      },
    },
    ...findersOf(dependencies, vpnSubscriptionReads, show),
  };
  return [
    operation('POST /v1/vpn/subscriptions', {
      ...creationCall(resource),
      id: 'createVpnSubscription',
      summary: 'Order a VPN subscription',
      description:
        'Stores the order and answers at once; the purchase follows. The subscription is then tracked until it is ' +
        'cancelled or expires. The same Idempotency-Key with the same body gets the same answer again, and nothing ' +
        'is bought twice.',
      body: vpnSubscriptionInput,
      answers: creationAnswers(resource, {
        service_subscription_id: null,
        has_access_data: false,
        started_at: null,
        expires_at: null,
        current_period_start: null,
        current_period_end: null,
        periods: [],
        charged: null,
      }),
      problems: ['external_subscription_id_taken', 'purchase_not_possible', 'quote_expired'],
      handle: async (request) => {
        const { vpn_plan_id: vpnPlanId, external_subscription_id: externalSubscriptionId } = request.body;
        const { customer_price: customerPrice, customer_reference: reference } = request.body;
        return createWork(dependencies, resource, request, {
          reference: callerReference('vpn_subscription'),
          named: externalSubscriptionId,
          objection: await offers.objectionTo(offers.plans, wantedOf('plans', vpnPlanId, request.body)),
          item: { kind: 'vpn_subscription', itemId: vpnPlanId, esimId: undefined },
          accept: (tx, work, now) => {
            const customer = newCustomer(keyRing, 'vpn_subscription', work.id, reference);
            const price = { customerPrice: customerPrice.amount, customerPriceCurrency: customerPrice.currency };
            const subscription = { ...work, externalSubscriptionId, vpnPlanId, ...price, ...customer };
            return acceptVpnSubscription(tx, subscription, now);
          },
          show: (row) =>
            show({ row, ...NO_ATTEMPTS, renewedAt: [], endRecordedAt: null, debits: [] }, request.caller.ownerId),
        });
      },
    }),
    ...workOperations(dependencies, resource, {
      query: vpnSubscriptionListQuery,
      csv: vpnSubscriptionCsv,
      reads: vpnSubscriptionReads,
      show,
      filterOf: (query) => ({
        ...workFilter(query),
        externalSubscriptionIds: query.external_subscription_id,
        vpnPlanId: query.vpn_plan_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    }),
    vpnAccessOperation(dependencies),
    operation(`POST ${path}/{id}/cancel`, {
      id: 'cancelVpnSubscription',
      summary: 'End a VPN subscription for its customer',
      description:
        'Its cancellation is requested at the service; nothing is refunded. A repeated request changes nothing. ' +
        'Refused (`action_not_possible`) while it is not active yet, and once it has ended in another way: ' +
        '`expired`, `failed` or `abandoned`.',
      scope: 'vpn:write',
      params: idInPath('vpn_subscription'),
      prefersWait: true,
      body: z.strictObject({ reason: actionReason.optional() }).meta({ id: 'VpnCancellation' }),
      answers: {
        200: jsonAnswer(
          'It is cancelled: already before, or during the wait of `Prefer: wait=N`. If its time was over first ' +
            'during the wait, `status` is `expired`.',
          vpnSubscriptionOutput,
          {
            headers: waitingHeaders('vpn_subscription'),
            example: { status: 'cancelled', ...REQUESTED, ended_at: CANCELLED_AT, cancelled_at: CANCELLED_AT },
          },
        ),
        202: jsonAnswer(
          'The request is stored: `cancel_requested_at` is set, and `status` changes once its workflow has processed ' +
            'it. Read the subscription to follow it.',
          vpnSubscriptionOutput,
          { headers: { ...waitingHeaders('vpn_subscription'), ...retryAfterHeader }, example: REQUESTED },
        ),
      },
      problems: ['action_not_possible'],
      handle: async ({ params: { id }, body: { reason }, header, onClose, caller }) => {
        const found = await database.transaction(async (tx) => {
          requireFound(await vpnSubscriptionReads.find(tx, id, caller.ownerId), 'vpn_subscription_not_found');
          const result = await cancelVpnSubscription(tx, id, { actor: caller.apiKeyId, reason }, new Date(now()));
          if (result === 'already_ended' || result === 'not_active') {
            throw new Problem('action_not_possible', { detail: REFUSALS[result], extra: { refusal: result } });
          }
          return requireFound(await resource.find(tx, id, caller.ownerId), 'vpn_subscription_not_found');
        });
        const find = () => resource.findTogether(id, caller.ownerId);
        const Location = `${path}/${id}`;
        const reply = isFinal(found.status)
          ? jsonReply(200, plainWork(found), { Location })
          : jsonReply(202, plainWork(found), { Location, 'Retry-After': retryAfter(found, now()) });
        return replyAfterPreferredWait(
          dependencies,
          { id, header, onClose, find, show: async (work) => plainWork(work), caller, scope: 'vpn:write' },
          reply,
          {
            when: isFinal,
            status: 200,
          },
        );
      },
    }),
  ];
}
