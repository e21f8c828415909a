import * as z from 'zod';
import { apiScope, failureClass, instant, meaningsOf } from '#api/fields/fields.ts';
import { type ProblemCode, problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemType } from '#api/problems/problem.ts';
import { REFUSALS, type Refusal } from '#domain/operator/operator-actions.ts';

const fieldError = z
  .strictObject({
    in: z.enum(['body', 'query', 'path', 'header']).meta({ description: 'The part of the request with the error.' }),
    field: z.string().meta({ description: 'Dotted path; empty for the whole body.', example: 'max_price.amount' }),
    message: z.string(),
  })
  .meta({ id: 'FieldError' });

export const refusal = z.enum(Object.keys(REFUSALS) as [Refusal, ...Refusal[]]);

export const EXAMPLE_ADDRESS = 'https://fulfilment.example.com';

/** Members that belong to one code only are described as optional. */
export const problemSchema = z
  .strictObject({
    type: z.string().meta({ description: 'Address of a page about this problem.' }),
    code: z.enum(problemCodes as [ProblemCode, ...ProblemCode[]]).meta({ description: 'Stable; switch on this.' }),
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
  external_order_id_taken: {
    detail: 'Order ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD exists for this external_order_id.',
    existing: { id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', href: '/v1/orders/ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD' },
  },
  external_batch_id_taken: {
    detail: 'Batch bat_01JQ8ZD4K5M6N7P8Q9R0STVWXY exists for this external_batch_id.',
    existing: { id: 'bat_01JQ8ZD4K5M6N7P8Q9R0STVWXY', href: '/v1/order-batches/bat_01JQ8ZD4K5M6N7P8Q9R0STVWXY' },
  },
  external_topup_id_taken: {
    detail: 'Top-up top_01JQ8Z7C3D4E5F6G7H8J9K0MNP exists for this external_topup_id.',
    existing: { id: 'top_01JQ8Z7C3D4E5F6G7H8J9K0MNP', href: '/v1/topups/top_01JQ8Z7C3D4E5F6G7H8J9K0MNP' },
  },
  external_subscription_id_taken: {
    detail: 'VPN subscription vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW exists for this external_subscription_id.',
    existing: { id: 'vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW', href: '/v1/vpn/subscriptions/vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW' },
  },
  cancellation_exists: {
    detail: 'Cancellation can_01JQ8ZA7G8H9J0KMNPQRSTVWXY exists for this esim_id.',
    existing: { id: 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY', href: '/v1/cancellations/can_01JQ8ZA7G8H9J0KMNPQRSTVWXY' },
  },
  pricing_rule_exists: {
    detail: 'rule_01JQ8ZB1C2D3E4F5G6H7J8K9MN is in force for country ES USD.',
    existing: { id: 'rule_01JQ8ZB1C2D3E4F5G6H7J8K9MN', href: '/v1/pricing/rules/rule_01JQ8ZB1C2D3E4F5G6H7J8K9MN' },
  },
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
