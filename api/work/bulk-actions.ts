import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import {
  actionReason,
  attentionReason,
  createdByInQuery,
  IDS,
  failureClass,
  idInput,
  nounWithArticle,
  instantInput,
} from '#api/fields/fields.ts';
import { answerOnce, bulkIdempotencyKeyHeader, readIdempotencyKey } from '#api/http/idempotency.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { refusal } from '#api/problems/problem-schema.ts';
import { newLimit, type OneAction, performOne, verdictFields } from '#api/work/work-actions.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import { workFilter } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { chooseWork } from '#db/work/work-reads.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { statusesOf, type WorkStatus } from '#domain/work/lifecycle.ts';
import { type ActionOutcome, COMPARISON_MS } from '#fulfilment/operator/perform-action.ts';

/** Each is a separate transaction, and the caller waits for all of them. */
const MAX_BULK = 100;

/** Ids at the service can only be given for one. */
const ACTIONS = ['retry', 'release', 'abandon', 'limit', 'resolve'] as const;
/** Only purchases are held by the purchase gate and have a price. */
const ACTIONS_WITHOUT_PURCHASE = ['retry', 'abandon', 'resolve'] as const;

function bulkInput({ kind, name }: WorkResource) {
  const noun = KINDS[kind].noun;
  const statuses: readonly WorkStatus[] = statusesOf(kind);
  const filter = z
    .strictObject({
      ids: z.array(idInput(kind)).min(1).max(MAX_BULK).optional(),
      status: z
        .enum(statuses)
        .optional()
        .meta({ description: `A status, as ${nounWithArticle(kind)} shows it.` }),
      failure_class: failureClass.optional(),
      attention: attentionReason.optional(),
      created_by: createdByInQuery.optional(),
      created_after: instantInput.optional().meta({ override: { type: 'string', format: 'date-time' } }),
      created_before: instantInput.optional().meta({ override: { type: 'string', format: 'date-time' } }),
    })
    .refine((given) => Object.values(given).some((value) => value !== undefined), {
      message: 'must select work: give ids or a filter',
    })
    .meta({
      description:
        `Which ${noun}s: all that match every given condition. Without \`ids\`, \`status\` and ` +
        '`attention` only those that have not ended.',
      override: { minProperties: 1 },
    });
  const actions: readonly (typeof ACTIONS)[number][] = KINDS[kind].isPurchase ? ACTIONS : ACTIONS_WITHOUT_PURCHASE;
  const { case: reason, verdict, next } = verdictFields;
  return z
    .strictObject({
      action: z.enum(actions).meta({
        description: `The action; each is described at \`POST ${KINDS[kind].path}/{id}/…\`.`,
      }),
      filter,
      reason: actionReason,
      max_price: newLimit
        .optional()
        .meta({ description: 'Required with `limit`; `null` removes the limit.', example: undefined }),
      case: reason.optional().meta({ description: 'Required with `resolve`: the reason of the open case.' }),
      verdict: verdict.optional().meta({ description: 'Required with `resolve`: the verdict for all of them.' }),
      next,
      dry_run: z
        .boolean()
        .default(false)
        .meta({ description: 'Only report the result for each. Needs no Idempotency-Key.' }),
    })
    .superRefine((given, context) => {
      const needs = (field: keyof typeof given, action: string, isNeeded: boolean) => {
        const isGiven = given[field] !== undefined;
        if (given.action === action ? isGiven || !isNeeded : !isGiven) return;
        context.addIssue({
          code: 'custom',
          path: [field],
          message: given.action === action ? `is needed with ${action}` : `goes with ${action} alone`,
        });
      };
      needs('max_price', 'limit', true);
      needs('case', 'resolve', true);
      needs('verdict', 'resolve', true);
      needs('next', 'resolve', false);
    })
    .meta({
      id: `${name}BulkAction`,
      example: {
        filter: { status: 'held', failure_class: 'insufficient_balance' },
        reason: 'Topped up.',
        dry_run: true,
      },
    });
}

function bulkActionOf(input: z.output<ReturnType<typeof bulkInput>>): OperatorAction {
  const { action, max_price: maxPrice, case: reason, verdict, next } = input;
  if (action === 'limit') return { action: 'change_limit', maxPrice: maxPrice ?? null };
  if (action !== 'resolve') return { action };
  if (reason === undefined || verdict === undefined)
    throw new TypeError('a resolution without case or verdict passed its schema');
  return { action, reason, verdict, ...(next !== undefined && { next }) };
}

function bulkOutput({ kind, name }: WorkResource) {
  const statuses: readonly WorkStatus[] = statusesOf(kind);
  return z
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
          id: z.string().meta({ example: IDS[kind].example }),
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
}

type BulkLine = z.input<ReturnType<typeof bulkOutput>>['data'][number];

/** Stored under the Idempotency-Key: a repetition acts on the same work, even if the filter selects other work now. */
const selection = z.object({ matched: z.int(), ids: z.array(z.string()), action_id: z.string() });

export function bulkOperation(dependencies: ApiDependencies, resource: WorkResource): Operation {
  const { kind, name } = resource;
  const { noun, path } = KINDS[kind];
  return operation(`POST ${path}/bulk-actions`, {
    id: `actOnMany${name}s`,
    tag: 'Operator actions',
    summary: `Perform one action on many ${noun}s`,
    description:
      'Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with ' +
      '`dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a ' +
      'repeated call covers the same work and changes nothing more.',
    scope: scopesOfKind(kind).operate,
    requestHeaders: bulkIdempotencyKeyHeader,
    body: bulkInput(resource),
    answers: {
      200: jsonAnswer('The result for each, or with `dry_run` the result that it would have.', bulkOutput(resource)),
    },
    heavy: 'many',
    handle: async (call) => {
      const { body, header, caller } = call;
      const { dry_run: dryRun } = body;
      const { ids: only, status, ...filter } = body.filter;
      const choice = workFilter({ ...filter, id: only, status: status && [status] });
      /** Ids without another condition are kept although there is no such work, so that the answer says so. */
      const select = async (db: Executor) => {
        const { matched, chosen } = await chooseWork(db, kind, caller.ownerId, choice, MAX_BULK);
        const { ids, ...others } = choice;
        const isByIds = ids !== undefined && Object.values(others).every((value) => value === undefined);
        return { matched, ids: isByIds ? [...new Set(ids)] : chosen.map(({ id }) => id) };
      };
      const act = async (id: string, actionId: string, how: Pick<OneAction, 'dryRun' | 'comparisonMs'>) => {
        const request = { id, caller, actionId, reason: body.reason, ...how };
        return lineOf(id, await performOne(dependencies, resource, request, bulkActionOf(body)), dryRun);
      };
      const answer = (matched: number, data: readonly BulkLine[]) =>
        jsonReply(200, { dry_run: dryRun, matched, remaining: Math.max(0, matched - data.length), data });
      const data: BulkLine[] = [];
      if (dryRun) {
        // The dry run needs no key, but refuses an invalid one, as the real call would.
        if (header('Idempotency-Key') !== undefined) readIdempotencyKey(header('Idempotency-Key'));
        const { matched, ids } = await dependencies.database.run(select);
        for (const id of ids) data.push(await act(id, newId('action'), { dryRun }));
        return answer(matched, data);
      }
      // The selection is stored first. Each action then detects by the same action id whether it was carried out. Not
      // the Idempotency-Key, which may be reused after a day for another call.
      const kept = await answerOnce(dependencies, call, async (tx) =>
        jsonReply(200, { ...(await select(tx)), action_id: newId('action') }),
      );
      const { matched, ids, action_id: actionId } = selection.parse(JSON.parse(kept.body.toString('utf8')));
      for (const id of ids) data.push(await act(id, actionId, { comparisonMs: 0 }));
      // All comparisons are requested by now, and are awaited together.
      const until = performance.now() + COMPARISON_MS;
      for (const [index, { id, refusal: refused }] of data.entries()) {
        const comparisonMs = until - performance.now();
        if (refused === 'not_compared' && comparisonMs > 0) data[index] = await act(id, actionId, { comparisonMs });
      }
      return answer(matched, data);
    },
  });
}

function lineOf(id: string, outcome: ActionOutcome, dryRun: boolean): BulkLine {
  const nothing = { refusal: null, detail: null };
  if (outcome.kind === 'missing')
    return { id, status: null, failure_class: null, attention: null, result: 'not_found', ...nothing };
  const { status, failureClass, attentionReason: attention } = outcome.before;
  const line = { id, status, failure_class: failureClass, attention };
  if (outcome.kind === 'refused')
    return { ...line, result: 'refused', refusal: outcome.refusal, detail: outcome.detail };
  return { ...line, result: dryRun && outcome.kind === 'applied' ? 'would_apply' : outcome.kind, ...nothing };
}
