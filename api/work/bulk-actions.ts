import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { attentionReason, failureClass } from '#api/fields/fields.ts';
import { answerOnce, bulkIdempotencyKeyHeader, readIdempotencyKey } from '#api/http/idempotency.ts';
import { type Caller, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { refusal } from '#api/problems/problem-schema.ts';
import { bulkActionOf, bulkInput, MAX_BULK } from '#api/work/bulk-action-schemas.ts';
import { withPriceCurrency } from '#api/work/work-actions.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import { newId } from '#db/connection/ids.ts';
import { chooseWork } from '#db/work/counts.ts';
import type { OperatorAction, Refusal } from '#domain/operator/operator-actions.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { statusesOf, type WorkStatus } from '#domain/work/lifecycle.ts';
import { COMPARISON_MS, performAction } from '#fulfilment/operator/perform-action.ts';

/** Stored under the Idempotency-Key: a repetition acts on the same work, even if the filter selects other work now. */
const selection = z.object({ matched: z.int(), ids: z.array(z.string()), action_id: z.string() });

/** Each is carried out like a single action. */
export function bulkOperation(dependencies: ApiDependencies, resource: WorkResource): Operation {
  const { kind, name, exampleId } = resource;
  const { noun, path } = KINDS[kind];
  const statuses: readonly WorkStatus[] = statusesOf(kind);
  const input = bulkInput(resource);
  const output = z
    .strictObject({
      dry_run: z.boolean().meta({ example: true }),
      matched: z.int().meta({ description: 'Number of matches of the filter.', example: 1 }),
      remaining: z.int().meta({
        description:
          `Number of matches that this call did not cover: one call covers ${MAX_BULK}, the oldest first. ` +
          'Call again with another key.',
      }),
      data: z.array(
        z.strictObject({
          id: z.string().meta({ example: exampleId }),
          status: z.enum(statuses).nullable().meta({
            description: 'Status before the action; null when the work is no longer stored.',
            example: 'held',
          }),
          failure_class: failureClass.nullable().meta({ example: 'insufficient_balance' }),
          attention: attentionReason.nullable(),
          result: z.enum(['would_apply', 'applied', 'unchanged', 'refused', 'not_found']).meta({
            description:
              '`would_apply`: with `dry_run`, the action is possible. `applied`: done. `unchanged`: done before with ' +
              'this Idempotency-Key. `refused`: not possible, see `detail`. `not_found`: no work has this id.',
          }),
          refusal: refusal.nullable().meta({ description: 'Reason of the refusal, as for a single action.' }),
          detail: z.string().nullable(),
        }),
      ),
    })
    .meta({ id: `${name}BulkResult` });
  return operation({
    id: `actOnMany${name}s`,
    method: 'post',
    path: `${path}/bulk-actions`,
    tag: 'Operator actions',
    summary: `Perform one action on many ${noun}s`,
    description:
      'Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with ' +
      '`dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a ' +
      'repeated call covers the same work and changes nothing more.',
    scope: scopesOfKind(kind).operate,
    requestHeaders: bulkIdempotencyKeyHeader,
    body: input,
    answers: { 200: jsonAnswer('The result for each, or with `dry_run` the result that it would have.', output) },
    problems: [
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'idempotency_in_progress',
      'idempotency_key_reused',
    ],
    heavy: 'many',
    handle: async ({ body, json, header, caller }) => {
      const { reason, dry_run: dryRun } = body;
      const {
        ids,
        status,
        failure_class: failed,
        attention,
        created_by: createdBy,
        created_after: createdAfter,
        created_before: createdBefore,
      } = body.filter;
      const choice = {
        ids,
        statuses: status && [status],
        failureClass: failed,
        attentionReason: attention,
        createdBy,
        createdAfter,
        createdBefore,
      };
      const { database } = dependencies;
      if (dryRun) {
        // The dry run needs no key, but refuses an invalid one, as the real call would.
        if (header('Idempotency-Key') !== undefined) readIdempotencyKey(header('Idempotency-Key'));
        const { matched, chosen } = await database.run((db) => chooseWork(db, kind, caller.ownerId, choice, MAX_BULK));
        const missing = hasFilter({ ...choice })
          ? []
          : (ids ?? []).filter((id) => !chosen.some((one) => one.id === id));
        const request = { action: bulkActionOf(body), reason, caller, actionId: newId('action'), dryRun };
        const data: BulkLine[] = [];
        for (const id of [...chosen.map((one) => one.id), ...new Set(missing)])
          data.push(await performOne(dependencies, resource, id, request));
        return jsonReply(200, { dry_run: true, matched, remaining: matched - chosen.length, data });
      }
      const replay = {
        lineageId: caller.lineageId,
        header: header('Idempotency-Key'),
        target: `POST ${path}/bulk-actions`,
        json,
      };
      // The selection is stored first. Each action then detects by the same action id whether it was carried out.
      const kept = await answerOnce(dependencies, replay, async (tx) => {
        const { matched, chosen } = await chooseWork(tx, kind, caller.ownerId, choice, MAX_BULK);
        const chosenIds =
          ids !== undefined && !hasFilter({ ...choice }) ? [...new Set(ids)] : chosen.map(({ id }) => id);
        // Not the Idempotency-Key, which may be reused after a day for another call.
        return jsonReply(200, { matched, ids: chosenIds, action_id: newId('action') });
      });
      const about = selection.parse(JSON.parse(kept.body.toString('utf8')));
      const request = {
        action: bulkActionOf(body),
        reason,
        caller,
        actionId: about.action_id,
        dryRun,
      };
      const data: BulkLine[] = [];
      for (const id of about.ids)
        data.push(await performOne(dependencies, resource, id, { ...request, comparisonMs: 0 }));
      // All comparisons are requested by now, and are awaited together.
      const until = performance.now() + COMPARISON_MS;
      for (const [index, { id, refusal: refused }] of data.entries()) {
        const comparisonMs = until - performance.now();
        if (refused === 'not_compared' && comparisonMs > 0)
          data[index] = await performOne(dependencies, resource, id, { ...request, comparisonMs });
      }
      return jsonReply(200, {
        dry_run: false,
        matched: about.matched,
        remaining: Math.max(0, about.matched - about.ids.length),
        data,
      });
    },
  });
}

interface BulkRequest {
  readonly action: OperatorAction;
  readonly reason: string;
  readonly caller: Caller;
  /** The same for a repetition of the call. */
  readonly actionId: string;
  readonly dryRun: boolean;
  readonly comparisonMs?: number;
}

type BulkLine = ReturnType<typeof lineOf> & {
  readonly result: 'would_apply' | 'applied' | 'unchanged' | 'refused' | 'not_found';
  readonly refusal: Refusal | null;
  readonly detail: string | null;
};

async function performOne(
  { database, now }: ApiDependencies,
  resource: WorkResource,
  id: string,
  { action: wanted, reason, caller, actionId, ...how }: BulkRequest,
): Promise<BulkLine> {
  const { kind } = resource;
  const action = await withPriceCurrency({ database }, resource, { id, owner: caller.ownerId, action: wanted });
  const operator = { actor: caller.apiKeyId, reason, actionId };
  const request = { work: { kind, id }, action, operator, owner: caller.ownerId, ...how };
  const outcome = await performAction(database, request, new Date(now()));
  if (outcome.kind === 'missing') return { ...lineOf({ id }), result: 'not_found', refusal: null, detail: null };
  const line = { ...lineOf(outcome.before), refusal: null, detail: null };
  if (outcome.kind === 'refused')
    return { ...line, result: 'refused', refusal: outcome.refusal, detail: outcome.detail };
  return { ...line, result: how.dryRun && outcome.kind === 'applied' ? 'would_apply' : outcome.kind };
}

function hasFilter(choice: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(choice).some(([name, value]) => name !== 'ids' && value !== undefined);
}

function lineOf({
  id,
  status = null,
  failureClass: failed = null,
  attentionReason: attention = null,
}: {
  readonly id: string;
  readonly status?: string | null;
  readonly failureClass?: string | null;
  readonly attentionReason?: string | null;
}) {
  return { id, status, failure_class: failed, attention };
}
