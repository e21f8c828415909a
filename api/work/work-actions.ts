import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import {
  actionReason,
  attentionReason,
  idInPath,
  nounWithArticle,
  instantInput,
  meaningsOf,
  moneyInput,
  wholeNumber,
  usd,
} from '#api/fields/fields.ts';
import { type Caller, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { exampleOf } from '#api/openapi/examples.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import { operationsOutput } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import { newId } from '#db/connection/ids.ts';
import { CASE_VERDICTS, caseVerdicts, type OperatorAction, SERVICE_ID } from '#domain/operator/operator-actions.ts';
import {
  changesNothing,
  RETRY_CHANGE_BOUNDS,
  RETRY_CHANGE_FIELDS,
  retryChangeOf,
  waitsAreOrdered,
} from '#domain/retry/retry-change.ts';
import { capitalized } from '#domain/text.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { type ActionOutcome, type ActionRequest, performAction } from '#fulfilment/operator/perform-action.ts';

export const newLimit = moneyInput.nullable().meta({
  description: '`null` removes the limit.',
  example: usd('14.00'),
});

export const verdictFields = {
  case: attentionReason.meta({
    description: 'The reason of the open case, as `operations.attention.reason` shows it.',
  }),
  verdict: z.enum(caseVerdicts).meta({ description: meaningsOf(CASE_VERDICTS) }),
  next: z.enum(['continue', 'abandon']).optional().meta({
    description: 'With `not_bought`: buy again (default), or abandon it.',
  }),
} as const;

const { attempts: ATTEMPTS, seconds: SECONDS } = RETRY_CHANGE_BOUNDS;
const secondsInput = wholeNumber(SECONDS.min, SECONDS.max).nullable().optional();

const plain = z.strictObject({ reason: actionReason }).meta({ id: 'OperatorAction' });
const limit = z.strictObject({ reason: actionReason, max_price: newLimit }).meta({ id: 'LimitChange' });
const retryPolicy = z
  .strictObject({
    reason: actionReason,
    attempts: wholeNumber(ATTEMPTS.min, ATTEMPTS.max).nullable().optional().meta({
      description: 'Total attempts, including those made. With a lower number than those made, no other one follows.',
      example: 5,
    }),
    first_wait_seconds: secondsInput.meta({ description: 'First wait; doubled each time.', example: 900 }),
    longest_wait_seconds: secondsInput.meta({ description: 'Longest wait.', example: 3_600 }),
    deadline: instantInput
      .meta({ override: { type: 'string', format: 'date-time' } })
      .nullable()
      .optional()
      .meta({
        description:
          'Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead.',
      }),
  })
  .refine((change) => !changesNothing(change), { message: `must contain at least one of: ${RETRY_CHANGE_FIELDS}` })
  .refine(waitsAreOrdered, { path: ['first_wait_seconds'], message: 'must not be more than longest_wait_seconds' })
  .meta({ id: 'RetryPolicyChange' });
/** Each kind adds its ids at the service. */
const resolution = z.strictObject({ reason: actionReason, ...verdictFields });
const serviceName = z.string().regex(SERVICE_ID, 'must have 1 to 128 visible ASCII characters').optional();

export function workActionOperations(dependencies: ApiDependencies, resource: WorkResource): Operation[] {
  const { kind, name, output } = resource;
  const { noun, path, isPurchase } = KINDS[kind];
  const common = {
    tag: 'Operator actions',
    scope: scopesOfKind(kind).operate,
    params: idInPath(kind),
    problems: ['action_not_possible'],
    answers: {
      200: jsonAnswer(
        `The ${noun} as stored now, with \`operations\`; its workflow continues at once. A repeated action changes ` +
          'nothing.',
        output,
        { example: { operations: exampleOf(operationsOutput, 'output') } },
      ),
    },
  } as const;
  const perform = async (
    { params: { id }, body: { reason }, caller }: { params: { id: string }; body: { reason: string }; caller: Caller },
    action: OperatorAction,
  ) => {
    const outcome = await performOne(dependencies, resource, { id, caller, reason }, action);
    if (outcome.kind === 'missing') throw new Problem(`${kind}_not_found`);
    if (outcome.kind === 'refused') {
      const { refusal, detail } = outcome;
      throw new Problem('action_not_possible', { detail, extra: { refusal } });
    }
    const found = await dependencies.database.run((db) => resource.find(db, id, caller.ownerId));
    return jsonReply(200, requireFound(found, `${kind}_not_found`));
  };

  const release = operation(`POST ${path}/{id}/release`, {
    ...common,
    id: `release${name}`,
    summary: 'Release held work through the purchase gate now',
    description:
      'It passes a pause and an open circuit (as its canary), but not the wallet, the daily limits or `max_price`. ' +
      'Refused unless it is held. A release remains valid until the gate is passed.',
    body: plain,
    handle: (request) => perform(request, { action: 'release' }),
  });
  const changeLimit = operation(`PATCH ${path}/{id}/limit`, {
    ...common,
    id: `change${name}Limit`,
    summary: 'Change the maximum that the service may charge',
    description: `${capitalized(nounWithArticle(kind))} held because of its price is tried again at once.`,
    body: limit,
    handle: (request) => perform(request, { action: 'change_limit', maxPrice: request.body.max_price }),
  });
  const { serviceId, serviceEsimId } = resource.resolution;
  const named = serviceEsimId === undefined ? [serviceId] : [serviceId, serviceEsimId];
  const names = Object.fromEntries(named.map(({ field, description }) => [field, serviceName.meta({ description })]));
  return [
    operation(`POST ${path}/{id}/retry`, {
      ...common,
      id: `retry${name}`,
      summary: 'Retry now work that is held or needs attention',
      description:
        'Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants ' +
        'one more.',
      body: plain,
      handle: (request) => perform(request, { action: 'retry' }),
    }),
    // Only purchases are held by the purchase gate and have a price.
    ...(isPurchase ? [release, changeLimit] : []),
    operation(`PATCH ${path}/{id}/retry-policy`, {
      ...common,
      id: `change${name}RetryPolicy`,
      summary: 'Change the retry policy: attempts, waits and deadline',
      description:
        'Omitted fields are not changed; `null` removes a change. A running wait is computed again from its start. ' +
        `It does not decide whether another attempt is safe: that is checked as always. Refused once the ${noun} ` +
        'has ended.',
      body: retryPolicy,
      handle: (request) => perform(request, { action: 'change_retry', change: retryChangeOf(request.body) }),
    }),
    operation(`POST ${path}/{id}/abandon`, {
      ...common,
      id: `abandon${name}`,
      summary: `Abandon ${nounWithArticle(kind)} that bought nothing`,
      description: 'Refused while it may have bought something, or the service keeps money for it.',
      body: plain,
      handle: (request) => perform(request, { action: 'abandon' }),
    }),
    operation(`POST ${path}/{id}/resolve`, {
      ...common,
      id: `resolve${name}Case`,
      summary: `Resolve a case of ${nounWithArticle(kind)}`,
      description:
        "States the outcome when neither the service nor the wallet could prove it. Check the service's console " +
        'first: after `not_bought` it is bought again.',
      body: resolution.extend(names).meta({
        id: `${name}CaseResolution`,
        example: { reason: 'Their support says it was never sold.', case: 'outcome_unknown', verdict: 'not_bought' },
      }),
      handle: (request) => {
        // The ids at the service differ by kind and have no type.
        const given = resolution.strip().parse(request.body);
        const { case: reason, verdict, next } = given;
        const nameOf = (field: string) => serviceName.parse(Reflect.get(request.body, field));
        const [id, esimId] = [nameOf(serviceId.field), serviceEsimId && nameOf(serviceEsimId.field)];
        return perform(
          { ...request, body: given },
          {
            action: 'resolve',
            reason,
            verdict,
            ...(id !== undefined && { serviceId: id }),
            ...(esimId !== undefined && { serviceEsimId: esimId }),
            ...(next !== undefined && { next }),
          },
        );
      },
    }),
  ];
}

export interface OneAction extends Pick<ActionRequest, 'dryRun' | 'comparisonMs'> {
  readonly id: string;
  readonly caller: Caller;
  readonly reason: string;
  /** The same for a repetition of the call. */
  readonly actionId?: string;
}

export async function performOne(
  { database, now }: ApiDependencies,
  resource: WorkResource,
  { id, caller: { ownerId: owner, apiKeyId: actor }, reason, actionId = newId('action'), ...how }: OneAction,
  wanted: OperatorAction,
): Promise<ActionOutcome> {
  let action = wanted;
  // A limit in another currency can then be refused. Without an answer of the service the limit is accepted.
  if (wanted.action === 'change_limit' && wanted.maxPrice !== null && resource.priceCurrency !== undefined) {
    const found = await database.run((db) => resource.find(db, id, owner));
    const priceCurrency = found === undefined ? undefined : await resource.priceCurrency(found);
    if (priceCurrency !== undefined) action = { ...wanted, priceCurrency };
  }
  const request = { work: { kind: resource.kind, id }, action, operator: { actor, reason, actionId }, owner, ...how };
  return performAction(database, request, new Date(now()));
}
