import * as z from 'zod';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/attention.ts';
import { CASE_VERDICTS, REFUSALS, caseVerdicts, type CaseVerdict, type OperatorAction } from '#domain/operator-actions.ts';
import { newId } from '#db/ids.ts';
import { actOnWork } from '#db/operator-actions.ts';
import { findOrderView } from '#db/order-queries.ts';
import { requestWake } from '#db/outbox.ts';
import { WorkMissingError } from '#db/work.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist, moneyInput } from '#api/fields.ts';
import { operation, type Caller, type Operation } from '#api/operation.ts';
import { orderOutput, orderOutputExample } from '#api/order-schemas.ts';
import { Problem } from '#api/problem.ts';
import { jsonReply, type Reply } from '#api/reply.ts';
import { orderJson } from '#api/representations.ts';

const MAX_WHY = 500;
const SERVICE_ID = /^[\x21-\x7e]{1,128}$/;

const why = z
  .string()
  .trim()
  .min(1, 'must say why')
  .max(MAX_WHY)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  .meta({ description: 'Why, for whoever reads the timeline. Keep personal data out.', example: 'The customer no longer wants it.' });

const serviceId = z.string().regex(SERVICE_ID, 'must have 1 to 128 visible ASCII characters').optional();

const plain = z.strictObject({ why }).meta({ id: 'OperatorAct' });
const limit = z
  .strictObject({ why, max_price: moneyInput.nullable().meta({ description: '`null` takes the limit away.' }) })
  .meta({ id: 'LimitChange' });
const resolution = z
  .strictObject({
    why,
    case: z
      .enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]])
      .meta({ description: 'The reason of the open case, as `attention.reason` shows it.' }),
    verdict: z.enum(caseVerdicts as [CaseVerdict, ...CaseVerdict[]]).meta({
      description: Object.entries(CASE_VERDICTS).map(([name, meaning]) => `\`${name}\`: ${meaning}`).join(' '),
    }),
    service_order_id: serviceId.meta({ description: 'With `bought`: the order at the service, where it is not known yet.' }),
    service_esim_id: serviceId.meta({ description: 'With `bought`: the eSIM at the service. Without it the service is asked.' }),
    next: z.enum(['continue', 'abandon']).optional().meta({
      description: 'With `not_bought`: buy anew (the default), or give the order up.',
    }),
  })
  .meta({ id: 'CaseResolution' });

const path = idInPath('order', orderOutputExample.id);
const example = { why: 'Balance was topped up.' };

/** What a person does with an order that waits, fails or went wrong. */
export function orderActionOperations(dependencies: ApiDependencies): Operation[] {
  const common = {
    method: 'post',
    tag: 'Operator actions',
    scope: 'orders:operate',
    params: path,
    problems: ['order_not_found', 'action_not_possible'],
    answers: {
      200: {
        description: 'The order as it now stands. What was done before changes nothing.',
        contentType: 'application/json',
        schema: orderOutput,
        example: orderOutputExample,
      },
    },
  } as const;
  return [
    operation({
      ...common,
      id: 'retryOrder',
      path: '/v1/orders/{id}/retry',
      summary: 'Try again now what is held or parked',
      description:
        'Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.',
      body: plain,
      bodyExample: example,
      handle: ({ params, body, caller }) => perform(dependencies, params.id, { action: 'retry' }, body.why, caller),
    }),
    operation({
      ...common,
      id: 'abandonOrder',
      path: '/v1/orders/{id}/abandon',
      summary: 'Give up an order that bought nothing',
      description: 'Refused while the service may have bought for it, or keeps money for it.',
      body: plain,
      bodyExample: { why: 'The customer no longer wants it.' },
      handle: ({ params, body, caller }) => perform(dependencies, params.id, { action: 'abandon' }, body.why, caller),
    }),
    operation({
      ...common,
      id: 'changeOrderLimit',
      path: '/v1/orders/{id}/limit',
      summary: 'Change the most that the service may charge',
      description: 'An order that is held because of its price is tried again at once.',
      body: limit,
      bodyExample: { why: 'Agreed with the customer.', max_price: { amount: '14.00', currency: 'EUR' } },
      handle: ({ params, body, caller }) =>
        perform(dependencies, params.id, { action: 'change_limit', maxPrice: body.max_price }, body.why, caller),
    }),
    operation({
      ...common,
      id: 'resolveOrderCase',
      path: '/v1/orders/{id}/resolve',
      summary: 'Judge a case of an order',
      description:
        'Says what is true where neither the service nor the wallet could prove it. Look at the service\'s console first: ' +
        'after `not_bought` the order is bought anew.',
      body: resolution,
      bodyExample: { why: 'Their support says it was never sold.', case: 'outcome_unknown', verdict: 'not_bought' },
      handle: ({ params, body, caller }) => perform(dependencies, params.id, resolve(body), body.why, caller),
    }),
  ];
}

function resolve(body: z.output<typeof resolution>): OperatorAction {
  const { service_order_id: serviceId, service_esim_id: serviceEsimId, next } = body;
  return {
    action: 'resolve',
    reason: body.case,
    verdict: body.verdict,
    ...(serviceId !== undefined && { serviceId }),
    ...(serviceEsimId !== undefined && { serviceEsimId }),
    ...(next !== undefined && { next }),
  };
}

async function perform(
  { database, wakeRelay, now }: ApiDependencies,
  id: string,
  action: OperatorAction,
  reason: string,
  caller: Caller,
): Promise<Reply> {
  if (!mayExist('order', id)) throw new Problem('order_not_found');
  const work = { kind: 'order', id } as const;
  const operator = { actor: caller.apiKeyId, why: reason, actId: newId('act') };
  const order = await database.transaction(async (tx) => {
    const result = await actOnWork(tx, work, action, operator, new Date(now())).catch((error: unknown) => {
      throw error instanceof WorkMissingError ? new Problem('order_not_found') : error;
    });
    if (result.kind === 'refused') {
      const { refusal } = result;
      throw new Problem('action_not_possible', { detail: REFUSALS[refusal], extra: { refusal } });
    }
    if (result.kind === 'applied') await requestWake(tx, work);
    return findOrderView(tx, id);
  });
  if (order === undefined) throw new Problem('order_not_found');
  wakeRelay();
  return jsonReply(200, orderJson(order));
}
