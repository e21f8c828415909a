import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import {
  actionReason,
  failureClass,
  failureClassInQuery,
  idInPath,
  instant,
  instantJson,
  ourId,
  workKindField,
} from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { flagInQuery, pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { requireFound } from '#api/problems/problem.ts';
import { PAUSE_ORIGINS } from '#domain/gate/purchase-gate.ts';
import { PURCHASE_KINDS } from '#domain/work/kinds.ts';
import { findPause, listPauses, type PauseRow, addPause, releasePause } from '#fulfilment/gate/pauses.ts';

const PATH = '/v1/purchase-gate/pauses';

export const pauseOutput = z
  .strictObject({
    id: ourId('pause'),
    origin: z.enum(PAUSE_ORIGINS).meta({
      description:
        '`operator`: an operator paused buying. `first_purchase_check`: the product did before the first purchase in ' +
        "production, because the shapes of the service's answers were not seen yet. It ends when they were seen, and " +
        'is not created again after its release. `amounts`: the product did, because a debit or a charge is in ' +
        'another unit or currency than its price. An operator ends it.',
    }),
    kind: workKindField.nullable().meta({ description: 'The kind of work that is paused; null: every kind.' }),
    failure_class: failureClass
      .nullable()
      .meta({ description: 'Only work whose last failure has this class is paused; null: all buying.' }),
    reason: z.string(),
    paused_by: z.string().meta({ description: 'Id of an API key; `worker` for the product itself.' }),
    paused_at: instant,
    released_at: instant.nullable(),
    released_by: z.string().nullable(),
    release_reason: z.string().nullable(),
  })
  .meta({
    id: 'Pause',
    example: {
      failure_class: 'package_unavailable',
      reason: 'The supplier changes its catalogue.',
      paused_by: 'key_01JQ8Z9E5F6G7H8J9K0MNPQRST',
    },
  });

/** Cancellations spend nothing and pass no gate. */
const purchaseKind = z.enum(PURCHASE_KINDS).meta({ description: 'Only this kind of purchase is paused.' });

export function pauseOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now } = dependencies;
  return [
    operation(`GET ${PATH}`, {
      id: 'listPauses',
      summary: 'List pauses of buying, newest first',
      description:
        'Active pauses; with `ended=true` also ended ones: who paused buying, when and why, and who released it.',
      scope: 'gate:read',
      query: z.strictObject({
        kind: workKindField.optional().meta({ description: 'Only pauses of exactly this kind of work.' }),
        failure_class: failureClassInQuery
          .optional()
          .meta({ description: 'Only pauses after exactly this failure class.' }),
        ended: flagInQuery('`true`: also ended pauses.'),
        ...pageQuery,
      }),
      answers: { 200: jsonAnswer('A page of pauses.', pageOf(pauseOutput, 'PausePage')) },
      handle: async ({ query }) => {
        const { kind: ofKind, failure_class: failureClass, ended: includeEnded = false } = query;
        const filter = { kind: ofKind, failureClass, includeEnded };
        return pageReply(query, CURSORS.pause, (at) => database.run((db) => listPauses(db, filter, at)), pauseJson);
      },
    }),
    operation(`GET ${PATH}/{id}`, {
      id: 'getPause',
      summary: 'Read a pause of buying',
      scope: 'gate:read',
      params: idInPath('pause'),
      answers: { 200: jsonAnswer('The pause.', pauseOutput) },
      handle: async ({ params: { id } }) => {
        const found = await database.run((db) => findPause(db, id));
        return jsonReply(200, pauseJson(requireFound(found, 'pause_not_found')));
      },
    }),
    operation(`POST ${PATH}`, {
      id: 'pauseBuying',
      summary: 'Pause buying: all of it, of one kind, or after one failure class',
      description:
        'From now on nothing that the pause covers is sent; a running send ends. Paused work is held, and fails at ' +
        'its deadline like other held work. If the same is paused already, the answer is that pause (200).',
      scope: 'gate:operate',
      idempotent: true,
      body: z
        .strictObject({ kind: purchaseKind.optional(), failure_class: failureClass.optional(), reason: actionReason })
        .meta({ id: 'PauseInput' }),
      bodyExample: { failure_class: 'package_unavailable', reason: 'The supplier changes its catalogue.' },
      answers: {
        200: jsonAnswer('The same was paused already.', pauseOutput),
        201: jsonAnswer('The pause.', pauseOutput, { headers: { Location: 'Address of the pause.' } }),
      },
      handle: async (request) =>
        answerOnce(dependencies, request, async (tx) => {
          const { kind = null, failure_class: failureClass = null, reason } = request.body;
          const requested = { origin: 'operator', kind, failureClass, reason, actor: request.caller.apiKeyId } as const;
          const { pause, isNew } = await addPause(tx, requested, new Date(now()));
          return isNew
            ? jsonReply(201, pauseJson(pause), { Location: `${PATH}/${pause.id}` })
            : jsonReply(200, pauseJson(pause));
        }),
    }),
    operation(`DELETE ${PATH}/{id}`, {
      id: 'endPause',
      summary: 'End a pause; held work continues at a limited rate, oldest first',
      description:
        'An ended pause is not changed. Releasing a pause of the origin `first_purchase_check` means buying although ' +
        "the shapes of the service's answers were not seen.",
      scope: 'gate:operate',
      params: idInPath('pause'),
      query: z.strictObject({ reason: actionReason }),
      answers: { 200: jsonAnswer('The pause.', pauseOutput) },
      handle: async ({ params: { id }, query: { reason }, caller }) => {
        const by = { actor: caller.apiKeyId, reason };
        const released = await database.transaction((tx) => releasePause(tx, id, by, new Date(now())));
        return jsonReply(200, pauseJson(requireFound(released, 'pause_not_found')));
      },
    }),
  ];
}

export function pauseJson(row: PauseRow): z.input<typeof pauseOutput> {
  return {
    id: row.id,
    origin: row.origin,
    kind: row.kind,
    failure_class: row.failureClass,
    reason: row.reason,
    paused_by: row.pausedBy,
    paused_at: row.pausedAt.toISOString(),
    released_at: instantJson(row.releasedAt),
    released_by: row.releasedBy,
    release_reason: row.releaseReason,
  };
}
