import * as z from 'zod';
import { apiScope, IDS, failureClass, instant, enumOf, meaningsOf } from '#api/fields/fields.ts';
import { type ProblemCode, problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemType } from '#api/problems/problem.ts';
import { REFUSALS } from '#domain/operator/operator-actions.ts';
import type { IdKind } from '#domain/work/identifiers.ts';
import { KINDS } from '#domain/work/kinds.ts';

const fieldError = z
  .strictObject({
    in: z.enum(['body', 'query', 'path', 'header']).meta({ description: 'The part of the request with the error.' }),
    field: z.string().meta({ description: 'Dotted path; empty for the whole body.', example: 'max_price.amount' }),
    message: z.string(),
  })
  .meta({ id: 'FieldError' });

export const refusal = enumOf(REFUSALS);

export const EXAMPLE_ADDRESS = 'https://fulfilment.example.com';

/** Members that belong to one code only are described as optional. */
export const problemSchema = z
  .strictObject({
    type: z.string().meta({ description: 'Address of a page about this problem.' }),
    code: z.enum(problemCodes).meta({ description: 'Stable; switch on this.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional().meta({ description: 'About this occurrence.' }),
    errors: z
      .array(fieldError)
      .optional()
      .meta({ description: 'With `validation_failed` and `purchase_not_possible`: the errors, field by field.' }),
    read_at: instant
      .optional()
      .meta({ description: 'With `purchase_not_possible`: when the offers were read from the service.' }),
    missing_scope: apiScope.optional().meta({ description: 'With `missing_scope`: the required scope.' }),
    existing: z
      .strictObject({ id: z.string(), href: z.string() })
      .optional()
      .meta({
        description:
          'With `external_…_id_taken`, `cancellation_exists` and `pricing_rule_exists`: the existing resource; ' +
          'absent when the key may not see it.',
      }),
    refusal: refusal
      .optional()
      .meta({ description: `With \`action_not_possible\`: why it is refused. ${meaningsOf(REFUSALS)}` }),
    failure_class: failureClass
      .optional()
      .meta({ description: 'With `service_…`: the failure class of the call to the service.' }),
    request_id: z.string().meta({ description: 'Identifies this request in our log.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });

type Members = Omit<z.input<typeof problemSchema>, 'type' | 'code' | 'title' | 'status' | 'request_id'>;

function existing(kind: IdKind, path: string, detail: string): Members {
  const id = IDS[kind].example;
  return { detail: detail.replace('%', id), existing: { id, href: `${path}/${id}` } };
}

const EXAMPLE_MEMBERS: Partial<Record<ProblemCode, Members>> = {
  validation_failed: {
    detail: 'The field `device_imei` must have 14 to 16 digits and nothing else.',
    errors: [{ in: 'body', field: 'device_imei', message: 'must have 14 to 16 digits and nothing else' }],
  },
  purchase_not_possible: {
    detail: 'The field `package_id` is not the id of a package that is sold now; `GET /v1/packages` lists them.',
    errors: [
      {
        in: 'body',
        field: 'package_id',
        message: 'is not the id of a package that is sold now; `GET /v1/packages` lists them',
      },
    ],
    read_at: '2030-01-31T12:00:00.000Z',
  },
  missing_scope: { detail: 'This needs the scope orders:write.', missing_scope: 'orders:write' },
  external_order_id_taken: existing('order', KINDS.order.path, 'Order % exists for this external_order_id.'),
  external_batch_id_taken: existing('orderBatch', '/v1/order-batches', 'Batch % exists for this external_batch_id.'),
  external_topup_id_taken: existing('topup', KINDS.topup.path, 'Top-up % exists for this external_topup_id.'),
  external_subscription_id_taken: existing(
    'vpn_subscription',
    KINDS.vpn_subscription.path,
    'VPN subscription % exists for this external_subscription_id.',
  ),
  cancellation_exists: existing('cancellation', KINDS.cancellation.path, 'Cancellation % exists for this esim_id.'),
  pricing_rule_exists: existing('pricingRule', '/v1/pricing/rules', '% is in force for country ES USD.'),
  action_not_possible: { detail: REFUSALS.not_waiting, refusal: 'not_waiting' },
  service_failed: { detail: 'The service answered 500.', failure_class: 'server_error' },
  service_unavailable: { detail: 'The service answered 429 (rate_limited).', failure_class: 'rate_limited' },
  service_timeout: { failure_class: 'timeout' },
};

export function problemExample(code: ProblemCode): Record<string, unknown> {
  const { title, status, advice } = PROBLEMS[code];
  return {
    type: problemType(code, EXAMPLE_ADDRESS),
    code,
    title,
    status,
    detail: `${title}. ${advice}`,
    ...EXAMPLE_MEMBERS[code],
    request_id: 'req_9b2f6c1e-53f0-4c55-8f0d-3c1a7f4e2b90',
  };
}
