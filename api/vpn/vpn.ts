import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { operation, type ApiRequest, type Operation } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { plainAmount, vpnSubscriptionJson } from '#api/http/representations.ts';
import { idInPath, mayExist } from '#api/lists/fields.ts';
import { ageOf, freshness, freshnessExample } from '#api/packages/package-schemas.ts';
import { pricedPlan, suggestedPriceJson, type AnyPricingRule } from '#api/packages/pricing-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { valueOf } from '#api/problems/service-problem.ts';
import {
  cancelledExample,
  cancelRequestedExample,
  vpnAccess,
  vpnPlan,
  vpnPlanExample,
  vpnSubscriptionInput,
  vpnSubscriptionInputExample,
  vpnSubscriptionListQuery,
  vpnSubscriptionOutput,
  vpnSubscriptionOutputExample,
  vpnSubscriptionPage,
} from '#api/vpn/vpn-schemas.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { answerPreferred, retryAfter } from '#api/work/finished-work.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { askAgainHeader, createWork, creationAnswers, waitingHeaders } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { listWork, notFound, workFilter, workResource } from '#api/work/work-resource.ts';
import { reasonForAct } from '#api/work/work-schemas.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';
import { requestWake } from '#db/queues/outbox.ts';
import {
  findVpnSubscriptionView,
  pageOfVpnSubscriptions,
  type VpnSubscriptionFilter,
} from '#db/work/vpn-subscription-queries.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { REFUSALS } from '#domain/work/operator-actions.ts';
import {
  acceptVpnSubscription,
  accessAad,
  customerReferenceAad,
  requestCancel,
} from '#fulfilment/work/vpn-subscriptions.ts';
import { vpnAccess as storedAccess, type VpnPlan } from '#upstream/contract.ts';

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
export function vpnOperations(dependencies: ApiDependencies): Operation[] {
  const { database, keyRing, service, now, wakeRelay } = dependencies;
  const params = idInPath('vpn_subscription', vpnSubscriptionOutputExample.id);
  return [
    operation({
      id: 'listVpnPlans',
      method: 'get',
      path: '/v1/vpn/plans',
      tag,
      summary: 'List VPN plans, their prices, and what your rules suggest, by id',
      description: 'Read from the service at this moment.',
      scope: 'vpn:read',
      answers: {
        200: {
          description: 'All plans.',
          contentType: JSON_TYPE,
          schema: z.strictObject({ data: z.array(vpnPlan), ...freshness }).meta({ id: 'VpnPlans' }),
          example: { data: [vpnPlanExample], ...freshnessExample },
        },
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async () => {
        const { items } = valueOf(await service.listVpnPlans());
        const rules = await database.run(rulesInForce);
        const data = items.toSorted((left, right) => left.id - right.id).map((plan) => planJson(plan, rules));
        return jsonReply(200, { data, ...ageOf(now(), now()) });
      },
    }),
    operation({
      id: 'createVpnSubscription',
      method: 'post',
      path: PATH,
      tag,
      summary: 'Order a VPN subscription',
      description:
        'Stores the order and answers at once; it is carried out afterwards, and followed until the subscription is cancelled or ' +
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
    operation({
      id: 'getVpnAccess',
      method: 'get',
      path: `${PATH}/{id}/access`,
      tag,
      summary: "Get what the customer's device needs",
      description: 'Needs the scope `vpn:reveal`. Each read is written to the audit log, and no cache keeps it.',
      scope: 'vpn:reveal',
      params,
      answers: {
        200: {
          description: 'The access data.',
          contentType: JSON_TYPE,
          schema: vpnAccess,
          example: {
            subscription_id: vpnSubscriptionOutputExample.id,
            username: 'u-5120',
            password: 'not-a-real-one',
            server: 'vpn.example.com',
            configuration: null,
          },
        },
      },
      problems: ['vpn_subscription_not_found', 'access_data_not_there'],
      handle: async ({ params: { id }, caller }) => {
        const view = mayExist('vpn_subscription', id)
          ? await database.run((db) => findVpnSubscriptionView(db, id, caller.ownerId))
          : undefined;
        if (view === undefined) throw notFound(vpnResource);
        const { encryptedAccess } = view.subscription;
        if (encryptedAccess === null) throw new Problem('access_data_not_there');
        const { username, password, server, configuration } = storedAccess.parse(
          JSON.parse(keyRing.decryptText(encryptedAccess, accessAad(id))),
        );
        const entry = {
          actor: caller.apiKeyId,
          action: 'vpn.access_revealed',
          subject: { kind: 'vpn_subscription', id },
        } as const;
        await database.run((db) => addAuditEntry(db, entry, new Date(now())));
        return jsonReply(200, {
          subscription_id: id,
          username,
          password,
          server: server ?? null,
          configuration: configuration ?? null,
        });
      },
    }),
    operation({
      id: 'cancelVpnSubscription',
      method: 'post',
      path: `${PATH}/{id}/cancel`,
      tag,
      summary: 'End a VPN subscription for its customer',
      description:
        'The service is asked to cancel it; nothing is refunded. Asking again changes nothing. Refused (`action_not_possible`) while it is not ' +
        'active yet, and once it has ended in another way: `expired`, `failed` or `abandoned`.',
      scope: 'vpn:write',
      params,
      prefersWait: true,
      body: z.strictObject({ why: reasonForAct.optional() }).meta({ id: 'VpnCancellation' }),
      bodyExample: { why: 'The customer ended it.' },
      answers: {
        200: {
          description:
            'It is cancelled: it was before, or has been within what `Prefer: wait=N` allows. Where its time was over first in that while, `status` is `expired`.',
          contentType: JSON_TYPE,
          schema: vpnSubscriptionOutput,
          example: cancelledExample,
          headers: waitingHeaders('vpn_subscription'),
        },
        202: {
          description:
            'The wish is stored: `cancel_requested_at` is set, and `status` changes once its workflow has taken it up. Read the subscription to see what becomes of it.',
          contentType: JSON_TYPE,
          schema: vpnSubscriptionOutput,
          example: cancelRequestedExample,
          headers: { ...waitingHeaders('vpn_subscription'), ...askAgainHeader },
        },
      },
      problems: ['vpn_subscription_not_found', 'action_not_possible'],
      handle: async ({ params: { id }, body: { why }, header, onClose, caller }) => {
        if (!mayExist('vpn_subscription', id)) throw notFound(vpnResource);
        const found = await database.transaction(async (tx) => {
          if ((await findVpnSubscriptionView(tx, id, caller.ownerId)) === undefined) throw notFound(vpnResource);
          const outcome = await requestCancel(tx, id, why, new Date(now()));
          if (outcome === 'already_ended' || outcome === 'not_active') {
            throw new Problem('action_not_possible', { detail: REFUSALS[outcome], extra: { refusal: outcome } });
          }
          if (outcome === 'requested') {
            const work = { kind: 'vpn_subscription', id } as const;
            await requestWake(tx, work);
            const entry = {
              actor: caller.apiKeyId,
              action: 'vpn_subscription.cancel',
              subject: work,
              ...(why !== undefined && { reason: why }),
            };
            await addAuditEntry(tx, entry, new Date(now()));
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
        return answerPreferred(dependencies, { id, header, onClose, find, caller }, reply, {
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

/** A customer's reference is personal: it is stored encrypted, and found by this. */
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

function planJson(plan: VpnPlan, rules: readonly AnyPricingRule[]): z.input<typeof vpnPlan> {
  const { id, name, duration_days: days, price_for_reseller: price, currency, available } = plan;
  const suggested = suggestedPriceJson(pricedPlan(plan), rules);
  return {
    id,
    name,
    duration_days: days ?? null,
    price_for_reseller: plainAmount(price),
    currency,
    available,
    suggested_price: suggested,
  };
}
