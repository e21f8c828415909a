import * as z from 'zod';
import {
  attentionReason,
  attentionReasonInQuery,
  createdBy,
  createdByInQuery,
  failureClass,
  failureClassInQuery,
  failureEnd,
  instant,
  money,
  ourId,
  serviceMessage,
  timeInQuery,
  usd,
} from '#api/fields/fields.ts';
import { idsInQuery, listOf, pageOf, pageQuery, timesOf } from '#api/lists/lists.ts';
import { type Expansion, expandInQuery } from '#api/work/expand.ts';
import { metadataInQuery } from '#api/work/work-input.ts';
import type { WorkFilter } from '#db/work/work-reads.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

export const PURCHASE_ENDS = '`completed`, `failed` and `abandoned` are final; `failed` means definitely not bought.';

const resubmissionSchema = z
  .strictObject({
    verdict: z.enum(['not_needed', 'no', 'yes']).meta({
      description:
        '`not_needed`: it is bought, or continues. `no`: it may have been bought, or a person may still let it be ' +
        'bought, so you would pay twice. `yes`: nothing was or will be bought, or the purchase has ended.',
    }),
    reason: z.string().meta({ example: 'It is bought.' }),
  })
  .meta({
    description:
      'Whether submitting the same again would be safe. After `failed` and `abandoned` it may have the same reference.',
  });

const retryPolicy = z
  .strictObject({
    attempts: z.int().nullable().meta({
      description: 'Total attempts, including those granted by operators. `attempts` of the work counts those made.',
      example: 3,
    }),
    first_wait_seconds: z.number().nullable().meta({
      description: 'First wait before another try; doubled each time. A time given by the service has precedence.',
      example: 15,
    }),
    longest_wait_seconds: z.number().nullable().meta({ description: 'Longest such wait.', example: 600 }),
    gives_up_at: instant
      .nullable()
      .meta({ description: 'Held work ends at this time. It never ends work that may have bought.' }),
    changed: z.array(z.enum(['attempts', 'first_wait', 'longest_wait', 'deadline'])).meta({
      description: 'Fields that an operator has set for this work; empty: all as configured.',
    }),
  })
  .meta({
    id: 'RetryPolicy',
    description:
      'The retry policy for its current hold reason or last failure. `null`: as configured; its workflow stores the ' +
      'values when it starts. Work held by the purchase gate continues when the gate releases it, independent of the ' +
      'waits.',
  });

export const operationsOutput = z
  .strictObject({
    attempts: z.int().min(0).meta({
      description: 'Number of attempts, sent or not: held work has its first one.',
      example: 1,
    }),
    attention: z
      .strictObject({ reason: attentionReason, meaning: z.string(), advice: z.string() })
      .nullable()
      .meta({ description: 'Why it needs attention.' }),
    resubmission: resubmissionSchema,
    next_step_at: instant.nullable().meta({ description: 'The time of the next step, if it is known.' }),
    retry_policy: retryPolicy,
  })
  .meta({ id: 'WorkOperations' });

export function workOutput<Status extends WorkStatus>(kind: WorkKind, statuses: readonly Status[], ends: string) {
  return {
    status: z.enum(statuses).meta({
      description:
        '`accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being ' +
        `${KINDS[kind].isPurchase ? 'bought' : 'requested'}. \`processing\`: the service works on it. ` +
        `\`needs_attention\`: waits for a person. ${ends}`,
      example: statuses.find((status) => status === 'completed' || status === 'active'),
    }),
    max_price: money.nullable(),
    charged: money.nullable().meta({
      description: 'Amount that the service charged, once it is known.',
      example: usd('9.80'),
    }),
    failure: z
      .strictObject({
        class: failureClass,
        detail: z.string().nullable(),
        service_message: serviceMessage,
        ended_by: failureEnd,
        meaning: z.string(),
        advice: z.string(),
      })
      .nullable()
      .meta({ description: 'Why it failed, or why it is held now.' }),
    attention: z
      .strictObject({ reason: attentionReason, meaning: z.string() })
      .nullable()
      .meta({ description: 'Why it needs attention, in words for a shop; `operations.attention` tells an operator.' }),
    deadline: instant.nullable().meta({
      description:
        'The deadline of the caller for held work. `null`: 48 hours after it was accepted (`retry.hold_deadline`), ' +
        'which also limits a later one. `operations.retry_policy.gives_up_at` is the effective time.',
    }),
    metadata: z.record(z.string(), z.string()).meta({ example: { shop_order: 'A-1001' } }),
    created_by: createdBy,
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable().meta({
      description: 'When it was bought or carried out; null until then, and for failed, refused or abandoned work.',
      example: '2030-01-31T12:00:04.000Z',
    }),
    operations: operationsOutput.optional().meta({
      description: 'With `expand=operations`, and in the answers of operator actions.',
    }),
  };
}

export function referenceOutput(kind: WorkKind) {
  const { noun } = KINDS[kind];
  return {
    customer_price: money
      .nullable()
      .meta({ description: 'Price that your customer pays, as you gave it; null: not given.' }),
    replaces: ourId(kind)
      .nullable()
      .meta({ description: `The ${noun} that had this reference before and ended without buying; null: none.` }),
    replaced_by: ourId(kind)
      .nullable()
      .meta({ description: `The ${noun} that uses this reference again, after this one ended without buying.` }),
  };
}

export function workListQuery<Status extends WorkStatus>(
  kind: WorkKind,
  statuses: readonly Status[],
  expansions: readonly Expansion[],
) {
  return {
    id: idsInQuery(kind),
    expand: expandInQuery(kind, expansions),
    status: listOf(statuses).optional().meta({ description: 'One status, or several, separated by commas.' }),
    failure_class: failureClassInQuery.optional().meta({ description: 'Why it is held, or why it failed.' }),
    attention: attentionReasonInQuery.optional().meta({ description: 'Why it needs attention.' }),
    created_by: createdByInQuery.optional(),
    metadata: metadataInQuery,
    created_after: timeInQuery('Later than this.'),
    created_before: timeInQuery('Earlier than this.'),
    updated_after: timeInQuery('Changed later than this.'),
    ...pageQuery,
  };
}

export type CommonQuery = z.output<z.ZodObject<ReturnType<typeof workListQuery<WorkStatus>>>>;

export function workFilter(query: Partial<CommonQuery>): WorkFilter {
  return {
    ids: query.id,
    statuses: query.status,
    failureClass: query.failure_class,
    attentionReason: query.attention,
    createdBy: query.created_by,
    metadata: query.metadata,
    ...timesOf(query),
  };
}

const timelineEntry = z
  .strictObject({
    at: instant,
    event: z.string().meta({ description: 'Stable name of the event.', example: 'order.accepted' }),
    message: z.string().meta({
      description: 'A human-readable sentence.',
      example: 'The order was accepted and stored; its workflow is about to start.',
    }),
    detail: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .meta({ example: { package_id: 1001 } }),
  })
  .meta({ id: 'TimelineEntry' });

const currentState = z
  .strictObject({
    now: z.string().meta({
      description: 'The state as a sentence.',
      example: 'The order is held until an obstacle passes.',
    }),
    reason: z.string().nullable().meta({ description: 'The hold reason, or why it failed.' }),
    next: z
      .string()
      .meta({ description: 'The next step.', example: 'It continues as soon as the obstacle has passed.' }),
    next_at: instant.nullable().meta({ description: 'The time of the next step, if it is known.' }),
    resubmission: resubmissionSchema.meta({ description: 'The same value as in the resource.' }),
  })
  .meta({ id: 'CurrentState' });

export const timelinePage = pageOf(timelineEntry, 'TimelinePage')
  .extend({ current_state: currentState })
  .meta({ id: 'Timeline' });
