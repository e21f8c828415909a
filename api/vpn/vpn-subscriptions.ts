import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason } from '#api/fields/action-reason.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { type Offers, wantedOf } from '#api/offers/offers.ts';
import { Problem } from '#api/problems/problem.ts';
import { subscriptionExpansions } from '#api/vpn/revealed-access.ts';
import { vpnAccessOperation } from '#api/vpn/vpn-access.ts';
import {
  cancelRequestedExample,
  cancelledExample,
  vpnSubscriptionInput,
  vpnSubscriptionInputExample,
  vpnSubscriptionJson,
  vpnSubscriptionListQuery,
  vpnSubscriptionOutput,
  vpnSubscriptionOutputExample,
  vpnSubscriptionPage,
} from '#api/vpn/vpn-subscription-schemas.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/customer-reference.ts';
import { replyAfterPreferredWait, retryAfter } from '#api/work/long-poll.ts';
import { plainWork } from '#api/work/shown-work.ts';
import { retryAfterHeader, waitingHeaders } from '#api/work/work-creation.ts';
import { vpnSubscriptionCsv } from '#api/work/work-csv.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { type WorkJson, type WorkResource, notFound } from '#api/work/work-resource.ts';
import { vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { REFUSALS } from '#domain/operator/operator-actions.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { acceptVpnSubscription } from '#fulfilment/accept/vpn-subscription.ts';
import { cancelVpnSubscription } from '#fulfilment/work/subscription.ts';

const tag = 'VPN';

const JSON_TYPE = 'application/json';

/** VPN subscriptions: create, read, list, cancel, access data, operator actions. */
export function vpnSubscriptionOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { keyRing } = dependencies;
  return workOperations(dependencies, {
    kind: 'vpn_subscription',
    name: 'VpnSubscription',
    tag,
    output: vpnSubscriptionOutput,
    example: vpnSubscriptionOutputExample,
    expansions: subscriptionExpansions,
    reads: vpnSubscriptionReads,
    json: (stored) => vpnSubscriptionJson(stored, readCustomer(keyRing, 'vpn_subscription', stored.row.id, stored.row)),
    priceCurrency: (found) => offers.currencyOf('plans', found),
    create: {
      summary: 'Order a VPN subscription',
      description:
        'Stores the order and answers at once; the purchase follows. The subscription is then tracked until it ' +
        'is cancelled or ' +
        'expires. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.',
      body: vpnSubscriptionInput,
      bodyExample: vpnSubscriptionInputExample,
      accept:
        (_dependencies, { body }) =>
        (tx, work, now) => {
          const {
            external_subscription_id: externalSubscriptionId,
            vpn_plan_id: vpnPlanId,
            customer_price: customerPrice,
            customer_reference: customerReference,
          } = body;
          return acceptVpnSubscription(
            tx,
            {
              ...work,
              externalSubscriptionId,
              vpnPlanId,
              customerPrice,
              ...newCustomer(keyRing, 'vpn_subscription', work.id, customerReference),
            },
            now,
          );
        },
      quoted: ({ vpn_plan_id: itemId }) => ({ itemId, esimId: undefined }),
      objection: ({ body }) => offers.objectionTo(offers.plans, wantedOf('plans', body.vpn_plan_id, body)),
      added: { renewedAt: [], endRecordedAt: null, debits: [] },
    },
    list: {
      query: vpnSubscriptionListQuery,
      page: vpnSubscriptionPage,
      csv: vpnSubscriptionCsv,
      filter: (query) => ({
        externalSubscriptionIds: query.external_subscription_id,
        vpnPlanId: query.vpn_plan_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    },
    resolution: {
      serviceId: {
        field: 'service_subscription_id',
        description: 'With `bought`: the subscription at the service, if it is not known yet.',
      },
    },
    others: (api, resource) => [vpnAccessOperation(api), cancelOperation(api, resource)],
  });
}

function cancelOperation(dependencies: ApiDependencies, resource: WorkResource): Operation {
  const { database, now } = dependencies;
  const params = idInPath('vpn_subscription', vpnSubscriptionOutputExample.id);
  return operation({
    id: 'cancelVpnSubscription',
    method: 'post',
    path: `${resource.path}/{id}/cancel`,
    tag,
    summary: 'End a VPN subscription for its customer',
    description:
      'Its cancellation is requested at the service; nothing is refunded. A repeated request changes nothing. ' +
      'Refused (`action_not_possible`) while it is not active yet, and once it has ended in another way: `expired`, ' +
      '`failed` or `abandoned`.',
    scope: 'vpn:write',
    params,
    prefersWait: true,
    body: z.strictObject({ reason: actionReason.optional() }).meta({ id: 'VpnCancellation' }),
    bodyExample: { reason: 'The customer ended it.' },
    answers: {
      200: {
        description:
          'It is cancelled: already before, or during the wait of `Prefer: wait=N`. If its time was ' +
          'over first during the wait, `status` is `expired`.',
        contentType: JSON_TYPE,
        schema: vpnSubscriptionOutput,
        example: cancelledExample,
        headers: waitingHeaders('vpn_subscription'),
      },
      202: {
        description:
          'The request is stored: `cancel_requested_at` is set, and `status` changes once its workflow has ' +
          'processed it. Read the subscription to follow it.',
        contentType: JSON_TYPE,
        schema: vpnSubscriptionOutput,
        example: cancelRequestedExample,
        headers: { ...waitingHeaders('vpn_subscription'), ...retryAfterHeader },
      },
    },
    problems: ['vpn_subscription_not_found', 'action_not_possible'],
    handle: async ({ params: { id }, body: { reason }, header, onClose, caller }) => {
      if (!mayExist('vpn_subscription', id)) throw notFound(resource);
      const found = await database.transaction(async (tx) => {
        if ((await vpnSubscriptionReads.find(tx, id, caller.ownerId)) === undefined) throw notFound(resource);
        const result = await cancelVpnSubscription(tx, id, { actor: caller.apiKeyId, reason }, new Date(now()));
        if (result === 'already_ended' || result === 'not_active') {
          throw new Problem('action_not_possible', { detail: REFUSALS[result], extra: { refusal: result } });
        }
        return resource.find(tx, id, caller.ownerId);
      });
      if (found === undefined) throw notFound(resource);
      const find = () => resource.findTogether(id, caller.ownerId);
      const show = async (work: WorkJson) => plainWork(work);
      const Location = `${resource.path}/${id}`;
      const reply = isFinal(found.status)
        ? jsonReply(200, plainWork(found), { Location })
        : jsonReply(202, plainWork(found), { Location, 'Retry-After': retryAfter(found, now()) });
      return replyAfterPreferredWait(dependencies, { id, header, onClose, find, show, caller }, reply, {
        when: isFinal,
        status: 200,
      });
    },
  });
}
