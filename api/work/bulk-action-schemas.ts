import * as z from 'zod';
import { actionReason, attentionReason, createdByInQuery, failureClass, instantInput } from '#api/fields/fields.ts';
import { newLimit, verdictFields } from '#api/work/work-actions.ts';
import { article } from '#api/work/work-reads.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import { idPattern, isId } from '#domain/work/identifiers.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { statusesOf, type WorkStatus } from '#domain/work/lifecycle.ts';

/** Each is a separate transaction, and the caller waits for all of them. */
export const MAX_BULK = 100;

/** Ids at the service can only be given for one. */
const ACTIONS = ['retry', 'release', 'abandon', 'limit', 'resolve'] as const;
/** Only purchases are held by the purchase gate and have a price. */
const ACTIONS_WITHOUT_PURCHASE = ['retry', 'abandon', 'resolve'] as const;

export function bulkInput({ kind, name }: WorkResource) {
  const noun = KINDS[kind].noun;
  const statuses: readonly WorkStatus[] = statusesOf(kind);
  const filter = z
    .strictObject({
      ids: z
        .array(
          z
            .string()
            .refine((id) => isId(kind, id), { message: `must be the id of ${article(noun)} ${noun}` })
            .meta({ override: { pattern: idPattern(kind) } }),
        )
        .min(1)
        .max(MAX_BULK)
        .optional(),
      status: z
        .enum(statuses)
        .optional()
        .meta({ description: `A status, as ${article(noun)} ${noun} shows it.` }),
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
  const actions: readonly [(typeof ACTIONS)[number], ...(typeof ACTIONS)[number][]] = KINDS[kind].isPurchase
    ? ACTIONS
    : ACTIONS_WITHOUT_PURCHASE;
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

export type BulkInput = z.output<ReturnType<typeof bulkInput>>;

export function bulkActionOf({ action, max_price: maxPrice, case: reason, verdict, next }: BulkInput): OperatorAction {
  if (action === 'limit') return { action: 'change_limit', maxPrice: maxPrice ?? null };
  if (action !== 'resolve') return { action };
  if (reason === undefined || verdict === undefined)
    throw new TypeError('a resolution without case or verdict passed its schema');
  return { action, reason, verdict, ...(next !== undefined && { next }) };
}
