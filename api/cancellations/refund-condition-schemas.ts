import * as z from 'zod';
import { instant } from '#api/fields/instant.ts';
import { REFUND_CONDITIONS, type RefundCondition } from '#domain/cancellation/refund-conditions.ts';

/** One condition of the automatic refund. */
export const refundCondition = z
  .strictObject({
    name: z.enum(REFUND_CONDITIONS).meta({ description: 'The condition; `evidence` is a sentence about it.' }),
    result: z
      .enum(['pass', 'fail', 'unknown'])
      .meta({ description: '`unknown`: the service does not show it, or could not be read.' }),
    evidence: z.string().meta({ description: 'A human-readable sentence.' }),
    as_of: instant.nullable().meta({ description: 'Time of the evidence.' }),
    age_seconds: z.number().nullable().meta({ description: 'Age of the evidence in seconds.', example: 0.4 }),
  })
  .meta({ id: 'RefundCondition' });

const passed = (name: (typeof REFUND_CONDITIONS)[number], evidence: string) =>
  ({ name, result: 'pass', evidence, as_of: '2030-01-31T12:00:00.000Z', age_seconds: 0.4 }) as const;

/** All conditions, met. */
export const refundConditionsExample: z.input<typeof refundCondition>[] = [
  passed('usage_is_zero', 'No data was used.'),
  passed('never_installed', 'It was never installed.'),
  passed('never_activated', 'It was never activated.'),
  passed('no_completed_topup', 'No top-up of it is completed.'),
  passed('debit_verified', 'The wallet shows what it cost.'),
];

/** @param now epoch milliseconds. */
export function refundConditionJson({ name, result, evidence, asOf }: RefundCondition, now: number) {
  return {
    name,
    result,
    evidence,
    as_of: asOf === undefined ? null : new Date(asOf).toISOString(),
    age_seconds: asOf === undefined ? null : Math.max(0, now - asOf) / 1_000,
  };
}
