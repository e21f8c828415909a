import * as z from 'zod';
import { cancellationName } from '#api/cancellations/cancellations.ts';
import {
  refundCondition,
  refundConditionJson,
  refundConditionsExample,
} from '#api/cancellations/refund-condition-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { esimExampleId } from '#api/esims/esim-schemas.ts';
import { requireEsimOfPath } from '#api/esims/require-esim.ts';
import { idInPath, ourId } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { alreadyExists } from '#api/work/work-creation.ts';
import { findEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import { findCancellationInForce } from '#db/work/cancellations.ts';
import { forecastRefund, judgeRefundConditions } from '#domain/cancellation/refund-conditions.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';

const preflight = z
  .strictObject({
    esim_id: ourId('esim', esimExampleId),
    esim_status: z
      .string()
      .nullable()
      .meta({
        description:
          'Current status of the eSIM at the service; null when it could not be read. An eSIM that is `cancelled` ' +
          'already is not refunded.',
      }),
    forecast: z.enum(['refund_expected', 'no_refund_expected', 'unknown']).meta({
      description: 'The forecast from the conditions. The answer of the service to the cancellation decides.',
    }),
    conditions: z.array(refundCondition),
  })
  .meta({ id: 'CancellationPreflight' });

const example: z.input<typeof preflight> = {
  esim_id: esimExampleId,
  esim_status: 'available',
  forecast: 'refund_expected',
  conditions: refundConditionsExample,
};

/** Forecast of the refund of a cancellation. */
export function cancellationPreflightOperations(dependencies: ApiDependencies): Operation[] {
  const { database, service, now } = dependencies;
  return [
    operation({
      id: 'getCancellationPreflight',
      method: 'get',
      path: '/v1/esims/{id}/cancellation-preflight',
      tag: 'eSIMs',
      summary: 'Forecast whether the cancellation of an eSIM would be refunded',
      description:
        'Reads the five conditions of an automatic refund now. A condition that cannot be read is `unknown`, with ' +
        'the reason. Nothing is ' +
        'changed and nothing is spent. Once the eSIM is being cancelled, its cancellation has the answer.',
      scope: 'esims:read',
      params: idInPath('esim', esimExampleId),
      answers: {
        200: {
          description: 'The conditions, in the order of the specification.',
          contentType: 'application/json',
          schema: preflight,
          example,
        },
      },
      problems: ['esim_not_found', 'cancellation_exists'],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const esim = await database.run((db) => requireEsimOfPath(findEsim, db, id, ownerId));
        const made = await database.run((db) => findCancellationInForce(db, id));
        if (made !== undefined) throw await database.run((db) => alreadyExists(db, cancellationName, made, ownerId));
        const own = await database.run((db) => readRefundContext(db, esim));
        const { facts, esim: read, readAt } = await readRefundEvidence(service, own, now);
        if (read !== undefined) {
          const state = esimDetails(read);
          await database.transaction((tx) => recordEsim(tx, esim, { state, readAt }, new Date(now())));
        }
        const conditions = judgeRefundConditions(facts);
        const answer: z.input<typeof preflight> = {
          esim_id: id,
          esim_status: read?.status ?? null,
          forecast: forecastRefund(conditions, read?.status),
          conditions: conditions.map((condition) => refundConditionJson(condition, now())),
        };
        return jsonReply(200, answer);
      },
    }),
  ];
}
