import * as z from 'zod';
import { forecastRefund, judgeRefundConditions, REFUND_CONDITIONS } from '#domain/refund-conditions.ts';
import { findEsim, readOwnRefundFacts } from '#db/esim-queries.ts';
import { readRefundFacts } from '#upstream/refund-facts.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, instant, mayExist, ourId } from '#api/fields.ts';
import { operation, type Operation } from '#api/operation.ts';
import { Problem } from '#api/problem.ts';
import { jsonReply } from '#api/reply.ts';

const esimExampleId = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';

const preflight = z
  .strictObject({
    esim_id: ourId('esim', esimExampleId),
    forecast: z.enum(['refund_expected', 'no_refund_expected', 'unknown']).meta({
      description: 'What the conditions come to. A forecast: the answer of the service to the cancellation decides.',
    }),
    conditions: z.array(
      z.strictObject({
        name: z.enum(REFUND_CONDITIONS),
        result: z.enum(['pass', 'fail', 'unknown']),
        evidence: z.string().meta({ description: 'A sentence for people.' }),
        as_of: instant.nullable().meta({ description: 'Of when the evidence is.' }),
        age_seconds: z.number().nullable().meta({ description: 'How long ago that was.', example: 0.4 }),
      }),
    ),
  })
  .meta({ id: 'CancellationPreflight' });

const passed = (name: (typeof REFUND_CONDITIONS)[number], evidence: string) =>
  ({ name, result: 'pass', evidence, as_of: '2030-01-31T12:00:00.000Z', age_seconds: 0.4 }) as const;

const example: z.input<typeof preflight> = {
  esim_id: esimExampleId,
  forecast: 'refund_expected',
  conditions: [
    passed('usage_is_zero', 'No data was used.'),
    passed('never_installed', 'It was never installed.'),
    passed('never_activated', 'It was never activated.'),
    passed('no_completed_topup', 'No top-up of it is completed.'),
    passed('debit_verified', 'The wallet shows what it cost.'),
  ],
};

/** Would the cancellation of an eSIM be refunded? */
export function cancellationPreflightOperations({ database, service, now }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'getCancellationPreflight',
      method: 'get',
      path: '/v1/esims/{id}/cancellation-preflight',
      tag: 'eSIMs',
      summary: 'See whether the cancellation of an eSIM would be refunded',
      description:
        'Reads the five conditions of an automatic refund at this moment. What cannot be read is `unknown`, with the reason. Nothing is ' +
        'changed and nothing is spent.',
      scope: 'esims:read',
      params: idInPath('esim', esimExampleId),
      answers: {
        200: { description: 'The conditions, in the order of the specification.', contentType: 'application/json', schema: preflight, example },
      },
      problems: ['esim_not_found'],
      handle: async ({ params: { id } }) => {
        const esim = mayExist('esim', id) ? await database.run((db) => findEsim(db, id)) : undefined;
        if (esim === undefined) throw new Problem('esim_not_found');
        const own = await database.run((db) => readOwnRefundFacts(db, esim));
        const conditions = judgeRefundConditions(await readRefundFacts(service, own, now));
        const answer: z.input<typeof preflight> = {
          esim_id: id,
          forecast: forecastRefund(conditions),
          conditions: conditions.map(({ name, result, evidence, asOf }) => ({
            name,
            result,
            evidence,
            as_of: asOf === undefined ? null : new Date(asOf).toISOString(),
            age_seconds: asOf === undefined ? null : Math.max(0, now() - asOf) / 1_000,
          })),
        };
        return jsonReply(200, answer);
      },
    }),
  ];
}
