import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, instant, instantJson, money, workKindField, usd } from '#api/fields/fields.ts';
import { answerOnce, replayedHeader } from '#api/http/idempotency.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { requireFound } from '#api/problems/problem.ts';
import { driftStopSentences, DRIFT_STOP_STATES } from '#domain/gate/drift.ts';
import { paddedMoney } from '#domain/money/money.ts';
import { PURCHASE_KINDS } from '#domain/work/kinds.ts';
import type { DriftStopRow } from '#fulfilment/gate/drift-stop.ts';
import { releaseDriftStop } from '#fulfilment/gate/drift.ts';
import { parkedPurchases, type Parked } from '#fulfilment/gate/overview.ts';

export const driftStopOutput = z
  .strictObject({
    kind: workKindField,
    state: z.enum(DRIFT_STOP_STATES).meta({
      description:
        '`proving`: one purchase at a time goes first, until one is delivered whole. `product_stopped`: only ' +
        '`stopped_products` are held. `stopped`: nothing of the kind is sent. `open`: nothing is stopped any more.',
    }),
    since: instant.nullable(),
    detail: z.string().nullable().meta({ description: 'What was wrong with the last delivery; null: nothing so far.' }),
    stopped_products: z.array(z.int()).meta({ description: 'Ids of packages or VPN plans that are held.' }),
    canaries: z
      .array(z.strictObject({ id: z.string(), sent_at: instant.nullable() }))
      .meta({ description: 'Purchases that go first; `sent_at` is null while one is about to be sent.' }),
    parked: z
      .array(
        z.strictObject({
          product_id: z.int(),
          count: z.int(),
          since: instant,
          cost: z.array(money).meta({
            description: 'What they were charged, or their price where no charge is known; one for each currency.',
          }),
        }),
      )
      .meta({ description: 'Purchases that are paid and could not be delivered. They are read again automatically.' }),
    stops: z.string().meta({ description: 'What is stopped, in a sentence.' }),
    end: z.string().meta({ description: 'What ends it, in a sentence.' }),
  })
  .meta({
    id: 'DriftStop',
    example: {
      state: 'proving',
      since: '2030-01-31T12:00:00.000Z',
      detail: 'The activation code of the eSIM is not in a format that phones accept.',
      stopped_products: [1001],
      canaries: [{ id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', sent_at: '2030-01-31T12:00:00.000Z' }],
      parked: [{ product_id: 1001, count: 1, since: '2030-01-31T12:00:00.000Z', cost: [usd('2.40')] }],
      ...driftStopSentences('order', { state: 'proving', stoppedProducts: [1001] }),
    },
  });

export function driftStopOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation('DELETE /v1/purchase-gate/drift-stops/{kind}', {
      id: 'startAfterDrift',
      summary: 'Let one purchase of a stopped kind go',
      description:
        'The next purchase of the kind is sent, also one of a stopped product if no other waits. It spends money: if ' +
        'it is delivered whole, the others follow; otherwise the kind is stopped again. A purchase that was sent ' +
        'before and shows no result is not waited for any more.',
      scope: 'gate:operate',
      // A repetition would release a second purchase.
      idempotent: true,
      params: z.strictObject({ kind: z.string().meta({ description: 'Kind of purchase.', example: 'order' }) }),
      query: z.strictObject({ reason: actionReason }),
      answers: { 200: jsonAnswer('The stop as it is now.', driftStopOutput, { headers: replayedHeader }) },
      problems: ['drift_stop_not_found'],
      handle: (request) =>
        answerOnce(dependencies, { ...request, json: request.query }, async (tx) => {
          const { params, query, caller } = request;
          const found = PURCHASE_KINDS.find((one) => one === params.kind);
          const kind = requireFound(found, 'drift_stop_not_found');
          const by = { actor: caller.apiKeyId, reason: query.reason };
          const released = await releaseDriftStop(tx, kind, by, dependencies.now());
          const driftStop = requireFound(released, 'drift_stop_not_found');
          return jsonReply(200, driftStopJson(driftStop, await parkedPurchases(tx)));
        }),
    }),
  ];
}

export function driftStopJson(driftStop: DriftStopRow, parked: readonly Parked[]): z.input<typeof driftStopOutput> {
  const { kind, state, since, detail, stoppedProducts, canaries } = driftStop;
  return {
    kind,
    state,
    since: instantJson(since),
    detail,
    stopped_products: [...stoppedProducts],
    canaries: canaries.map(({ id, sentAt }) => ({
      id,
      sent_at: sentAt === null ? null : new Date(sentAt).toISOString(),
    })),
    parked: parked
      .filter((one) => one.kind === kind)
      .map(({ product, count, since: at, cost }) => ({
        product_id: product,
        count,
        since: at.toISOString(),
        cost: cost.map(paddedMoney),
      })),
    ...driftStopSentences(kind, driftStop),
  };
}
