import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason } from '#api/fields/action-reason.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type Caller, type Operation, operation } from '#api/http/operation.ts';
import { type Reply, jsonReply } from '#api/http/reply.ts';
import { withPriceCurrency } from '#api/operator/price-currency.ts';
import { retryPolicyInput } from '#api/operator/retry-policy-schemas.ts';
import { limitFields, verdictFields } from '#api/operator/work-action-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { article } from '#api/work/work-reads.ts';
import { type ResolutionField, type WorkResource, notFound } from '#api/work/work-resource.ts';
import { operationsExample } from '#api/work/work-schemas.ts';
import { newId } from '#db/connection/ids.ts';
import { SERVICE_ID, type OperatorAction } from '#domain/operator/operator-actions.ts';
import { changesNothing, RETRY_CHANGE_FIELDS, retryChangeOf, waitsAreOrdered } from '#domain/retry/retry-change.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { performAction } from '#fulfilment/operator/perform-action.ts';

const serviceName = z.string().regex(SERVICE_ID, 'must have 1 to 128 visible ASCII characters').optional();

const plain = z.strictObject({ reason: actionReason }).meta({ id: 'OperatorAction' });
const limit = z.strictObject({ reason: actionReason, ...limitFields }).meta({ id: 'LimitChange' });
const retryPolicy = z
  .strictObject({ reason: actionReason, ...retryPolicyInput })
  .refine((change) => !changesNothing(change), { message: `must contain at least one of: ${RETRY_CHANGE_FIELDS}` })
  .refine(waitsAreOrdered, {
    path: ['first_wait_seconds'],
    message: 'must not be more than longest_wait_seconds',
  })
  .meta({ id: 'RetryPolicyChange' });
/** Fields for every kind of work; each kind adds its ids at the service. */
const resolution = z.strictObject({ reason: actionReason, ...verdictFields });

const EXAMPLE = { reason: 'Balance was topped up.' };

/** Operator actions on one piece of work. */
export function workActionOperations(dependencies: ApiDependencies, resource: WorkResource): Operation[] {
  const { kind, name, path, scopes, output, example } = resource;
  const noun = KINDS[kind].noun;
  const common = {
    method: 'post',
    tag: 'Operator actions',
    scope: scopes.operate,
    params: idInPath(kind, example.id),
    problems: [resource.notFound, 'action_not_possible'],
    answers: {
      200: {
        description:
          `The ${noun} as stored now, with \`operations\`; its workflow continues at once. A repeated action changes ` +
          'nothing.',
        contentType: 'application/json',
        schema: output,
        example: { ...example, operations: operationsExample(kind) },
      },
    },
  } as const;
  const perform = (id: string, action: OperatorAction, reason: string, caller: Caller) =>
    performOnWork(dependencies, resource, id, action, reason, caller);
  return [
    operation({
      ...common,
      id: `retry${name}`,
      path: `${path}/{id}/retry`,
      summary: 'Retry now work that is held or needs attention',
      description:
        'Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants ' +
        'one more.',
      body: plain,
      bodyExample: EXAMPLE,
      handle: ({ params, body, caller }) => perform(params.id, { action: 'retry' }, body.reason, caller),
    }),
    // Only purchases are held by the purchase gate and have a price.
    ...(KINDS[kind].isPurchase
      ? [releaseOperation(resource, common, perform), limitOperation(resource, common, perform)]
      : []),
    retryPolicyOperation(resource, common, perform),
    operation({
      ...common,
      id: `abandon${name}`,
      path: `${path}/{id}/abandon`,
      summary: `Abandon ${article(noun)} ${noun} that bought nothing`,
      description: 'Refused while it may have bought something, or the service keeps money for it.',
      body: plain,
      bodyExample: { reason: 'The customer no longer wants it.' },
      handle: ({ params, body, caller }) => perform(params.id, { action: 'abandon' }, body.reason, caller),
    }),
    resolveOperation(resource, common, perform),
  ];
}

type Perform = (id: string, action: OperatorAction, reason: string, caller: Caller) => Promise<Reply>;
type Common = Pick<Parameters<typeof operation>[0], 'method' | 'tag' | 'scope' | 'problems' | 'answers'> & {
  readonly params: ReturnType<typeof idInPath>;
};

function releaseOperation({ name, path }: WorkResource, common: Common, perform: Perform): Operation {
  return operation({
    ...common,
    id: `release${name}`,
    path: `${path}/{id}/release`,
    summary: 'Release held work through the purchase gate now',
    description:
      'It passes a pause and an open circuit (as its canary), but not the wallet, the daily limits or `max_price`. ' +
      'Refused unless it is held. A release remains valid until the gate is passed.',
    body: plain,
    bodyExample: { reason: 'This customer waits at the counter.' },
    handle: ({ params, body, caller }) => perform(params.id, { action: 'release' }, body.reason, caller),
  });
}

function limitOperation({ kind, name, path }: WorkResource, common: Common, perform: Perform): Operation {
  const noun = KINDS[kind].noun;
  return operation({
    ...common,
    method: 'patch',
    id: `change${name}Limit`,
    path: `${path}/{id}/limit`,
    summary: 'Change the maximum that the service may charge',
    description: `${article(noun) === 'an' ? 'An' : 'A'} ${noun} held because of its price is tried again at once.`,
    body: limit,
    bodyExampleFirst: true,
    bodyExample: { reason: 'Agreed with the customer.', max_price: { amount: '14.00', currency: 'USD' } },
    handle: ({ params, body, caller }) =>
      perform(params.id, { action: 'change_limit', maxPrice: body.max_price }, body.reason, caller),
  });
}

function retryPolicyOperation({ kind, name, path }: WorkResource, common: Common, perform: Perform): Operation {
  return operation({
    ...common,
    method: 'patch',
    id: `change${name}RetryPolicy`,
    path: `${path}/{id}/retry-policy`,
    summary: 'Change the retry policy: attempts, waits and deadline',
    description:
      'Omitted fields are not changed; `null` removes a change. A running wait is computed again from ' +
      'its start. It does not decide ' +
      `whether another attempt is safe: that is checked as always. Refused once the ${KINDS[kind].noun} has ended.`,
    body: retryPolicy,
    bodyExample: {
      reason: 'The supplier is back in an hour.',
      attempts: 5,
      first_wait_seconds: 900,
      longest_wait_seconds: 3_600,
    },
    handle: ({ params, body, caller }) =>
      perform(params.id, { action: 'change_retry', change: retryChangeOf(body) }, body.reason, caller),
  });
}

function resolveOperation(
  { kind, name, path, resolution: named }: WorkResource,
  common: Common,
  perform: Perform,
): Operation {
  const { serviceId, serviceEsimId, example } = named;
  const fields = serviceEsimId === undefined ? [serviceId] : [serviceId, serviceEsimId];
  const shape = Object.fromEntries(fields.map(({ field, description }) => [field, serviceName.meta({ description })]));
  const body = resolution.extend(shape).meta({ id: `${name}CaseResolution` });
  const namedIn = (given: object, of: ResolutionField | undefined) =>
    of === undefined ? undefined : serviceName.parse(Reflect.get(given, of.field));
  return operation({
    ...common,
    id: `resolve${name}Case`,
    path: `${path}/{id}/resolve`,
    summary: `Resolve a case of ${article(KINDS[kind].noun)} ${KINDS[kind].noun}`,
    description:
      "States the outcome when neither the service nor the wallet could prove it. Check the service's console first: " +
      'after `not_bought` it is bought again.',
    bodyExample: example ?? {
      reason: 'Their support says it was never sold.',
      case: 'outcome_unknown',
      verdict: 'not_bought',
    },
    body,
    handle: ({ params, body: given, caller }) => {
      // Parse again without the ids at the service, which differ by kind and have no type.
      const verdict = resolution.strip().parse(given);
      const names = { serviceId: namedIn(given, serviceId), serviceEsimId: namedIn(given, serviceEsimId) };
      return perform(params.id, verdictOf(verdict, names), verdict.reason, caller);
    },
  });
}

interface ServiceNames {
  readonly serviceId: string | undefined;
  readonly serviceEsimId: string | undefined;
}

function verdictOf(body: z.output<typeof resolution>, { serviceId, serviceEsimId }: ServiceNames): OperatorAction {
  const { next } = body;
  return {
    action: 'resolve',
    reason: body.case,
    verdict: body.verdict,
    ...(serviceId !== undefined && { serviceId }),
    ...(serviceEsimId !== undefined && { serviceEsimId }),
    ...(next !== undefined && { next }),
  };
}

async function performOnWork(
  { database, now }: ApiDependencies,
  resource: WorkResource,
  id: string,
  wanted: OperatorAction,
  reason: string,
  caller: Caller,
): Promise<Reply> {
  const { kind } = resource;
  if (!mayExist(kind, id)) throw notFound(resource);
  const action = await withPriceCurrency({ database }, resource, { id, owner: caller.ownerId, action: wanted });
  const operator = { actor: caller.apiKeyId, reason, actionId: newId('action') };
  const request = { work: { kind, id }, action, operator, owner: caller.ownerId };
  const outcome = await performAction(database, request, new Date(now()));
  if (outcome.kind === 'missing') throw notFound(resource);
  if (outcome.kind === 'refused') {
    const { refusal, detail } = outcome;
    throw new Problem('action_not_possible', { detail, extra: { refusal } });
  }
  const found = await database.run((db) => resource.find(db, id, caller.ownerId));
  if (found === undefined) throw notFound(resource);
  return jsonReply(200, found);
}
