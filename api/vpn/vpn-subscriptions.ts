import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason } from '#api/fields/action-reason.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type ApiRequest, type Operation, operation } from '#api/http/operation.ts';
import { type Reply, jsonReply } from '#api/http/reply.ts';
import { Problem } from '#api/problems/problem.ts';
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
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { replyAfterPreferredWait, retryAfter } from '#api/work/long-poll.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { createWork, creationAnswers, retryAfterHeader, waitingHeaders } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { listWork, notFound, workFilter, workResource } from '#api/work/work-resource.ts';
import { customerReferenceAad } from '#db/encryption-aads.ts';
import {
  findVpnSubscriptionView,
  pageOfVpnSubscriptions,
  type VpnSubscriptionFilter,
} from '#db/work/vpn-subscription-queries.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { REFUSALS } from '#domain/work/operator-actions.ts';
import { acceptVpnSubscription } from '#fulfilment/work/accept-vpn-subscription.ts';
import { cancelVpnSubscription } from '#fulfilment/work/cancel-vpn-subscription.ts';

const tag = 'VPN';

const JSON_TYPE = 'application/json';

const PATH = '/v1/vpn/subscriptions';

const vpnResource = workResource({
  kind: 'vpn_subscription',
  name: 'VpnSubscription',
  path: PATH,
  tag,
  scopes: { read: 'vpn:read', operate: 'vpn:operate' },
  notFound: 'vpn_subscription_not_found',
  reference: { field: 'external_subscription_id', taken: 'external_subscription_id_taken', isForGood: true },
  output: vpnSubscriptionOutput,
  example: vpnSubscriptionOutputExample,
  find: async (db, id, owner) => {
    const view = await findVpnSubscriptionView(db, id, owner);
    return view && vpnSubscriptionJson(view);
  },
});

/** VPN plans and subscriptions: create, read, list, cancel, access data, and what a person can do. */
export function vpnSubscriptionOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now, wakeRelay } = dependencies;
  const params = idInPath('vpn_subscription', vpnSubscriptionOutputExample.id);
  return [
    operation({
      id: 'createVpnSubscription',
      method: 'post',
      path: PATH,
      tag,
      summary: 'Order a VPN subscription',
      description:
        'Stores the order and answers at once; the purchase follows. The subscription is then tracked until it ' +
        'is cancelled or ' +
        'expires. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.',
      scope: 'vpn:write',
      body: vpnSubscriptionInput,
      bodyExample: vpnSubscriptionInputExample,
      idempotent: true,
      prefersWait: true,
      answers: creationAnswers(vpnResource),
      problems: ['external_subscription_id_taken'],
      handle: (request) => createSubscription(dependencies, request),
    }),
    operation({
      id: 'listVpnSubscriptions',
      method: 'get',
      path: PATH,
      tag,
      summary: 'List VPN subscriptions, newest first',
      scope: 'vpn:read',
      query: vpnSubscriptionListQuery,
      answers: {
        200: {
          description: 'A page of VPN subscriptions.',
          contentType: JSON_TYPE,
          schema: vpnSubscriptionPage,
          example: { data: [vpnSubscriptionOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) =>
        listWork(
          vpnResource,
          ownerId,
          query,
          (page) => database.run((db) => pageOfVpnSubscriptions(db, ownerId, filterOf(dependencies, query), page)),
          {
            json: (view) => vpnSubscriptionJson(view),
            position: ({ subscription }) => subscription,
          },
        ),
    }),
    // Before what has an id in its place.
    bulkOperation(dependencies, vpnResource),
    ...workReadOperations(dependencies, vpnResource),
    vpnAccessOperation(dependencies),
    operation({
      id: 'cancelVpnSubscription',
      method: 'post',
      path: `${PATH}/{id}/cancel`,
      tag,
      summary: 'End a VPN subscription for its customer',
      description:
        'The service is asked to cancel it; nothing is refunded. A repeated request changes nothing. Refused ' +
        '(`action_not_possible`) while it is not ' +
        'active yet, and once it has ended in another way: `expired`, `failed` or `abandoned`.',
      scope: 'vpn:write',
      params,
      prefersWait: true,
      body: z.strictObject({ why: actionReason.optional() }).meta({ id: 'VpnCancellation' }),
      bodyExample: { why: 'The customer ended it.' },
      answers: {
        200: {
          description:
            'It is cancelled: it was before, or has been within what `Prefer: wait=N` allows. Where its time was ' +
            'over first in that while, `status` is `expired`.',
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
      handle: async ({ params: { id }, body: { why }, header, onClose, caller }) => {
        if (!mayExist('vpn_subscription', id)) throw notFound(vpnResource);
        const found = await database.transaction(async (tx) => {
          if ((await findVpnSubscriptionView(tx, id, caller.ownerId)) === undefined) throw notFound(vpnResource);
          const result = await cancelVpnSubscription(tx, id, { actor: caller.apiKeyId, why }, new Date(now()));
          if (result === 'already_ended' || result === 'not_active') {
            throw new Problem('action_not_possible', { detail: REFUSALS[result], extra: { refusal: result } });
          }
          return vpnResource.find(tx, id, caller.ownerId);
        });
        if (found === undefined) throw notFound(vpnResource);
        wakeRelay();
        const find = () => database.run((db) => vpnResource.find(db, id, caller.ownerId));
        const Location = `${PATH}/${id}`;
        const reply = isFinal(found.status)
          ? jsonReply(200, found, { Location })
          : jsonReply(202, found, { Location, 'Retry-After': retryAfter(found, now()) });
        return replyAfterPreferredWait(dependencies, { id, header, onClose, find, caller }, reply, {
          when: isFinal,
          status: 200,
        });
      },
    }),
    ...workActionOperations(dependencies, vpnResource),
  ];
}

type CreateRequest = Pick<
  ApiRequest<z.ZodObject, z.ZodObject, typeof vpnSubscriptionInput>,
  'body' | 'json' | 'header' | 'caller' | 'onClose'
>;

async function createSubscription(dependencies: ApiDependencies, request: CreateRequest): Promise<Reply> {
  const { body } = request;
  const {
    external_subscription_id: externalSubscriptionId,
    vpn_plan_id: vpnPlanId,
    customer_price: customerPrice,
  } = body;
  return createWork(dependencies, vpnResource, request, (tx, work, now) => {
    const encryptedCustomerReference = dependencies.keyRing.encrypt(
      body.customer_reference,
      customerReferenceAad(work.id),
    );
    const customerReferenceHash = hashOf(dependencies, body.customer_reference);
    const own = { externalSubscriptionId, vpnPlanId, customerPrice, encryptedCustomerReference, customerReferenceHash };
    return acceptVpnSubscription(tx, { ...work, ...own }, now);
  });
}

/** A customer's reference is personal: it is stored encrypted, and found by this hash. */
function hashOf({ keyRing }: ApiDependencies, customerReference: string): Buffer {
  return keyRing.hash(customerReference, 'customer_reference');
}

function filterOf(
  dependencies: ApiDependencies,
  query: z.output<typeof vpnSubscriptionListQuery>,
): VpnSubscriptionFilter {
  const { customer_reference: customerReference } = query;
  return {
    ...workFilter(query),
    externalSubscriptionId: query.external_subscription_id,
    vpnPlanId: query.vpn_plan_id,
    customerReferenceHash: customerReference === undefined ? undefined : hashOf(dependencies, customerReference),
  };
}
