/** Fields that requests and answers about work of every kind share. */
import * as z from 'zod';
import {
  attentionReason,
  attentionReasonInQuery,
  failureClass,
  failureClassInQuery,
  failureEnd,
  serviceMessage,
} from '#api/fields/failure-classes.ts';
import { createdBy, createdByInQuery, exampleKeyId, ourId } from '#api/fields/ids.ts';
import { instant, timeInQuery } from '#api/fields/instant.ts';
import { money } from '#api/fields/money.ts';
import { listOf } from '#api/fields/query.ts';
import { idsInQuery } from '#api/lists/filters.ts';
import { pageQuery } from '#api/lists/page-schemas.ts';
import { retryPolicy } from '#api/operator/retry-policy-schemas.ts';
import { type Expansion, expandInQuery } from '#api/work/expand.ts';
import { resubmissionSchema } from '#api/work/resubmission-schema.ts';
import { metadataInQuery } from '#api/work/work-input.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** Statuses of one kind, from `statusesOf`. */
type Statuses<Status extends WorkStatus> = readonly [Status, ...Status[]];

/** The final statuses of one-time purchases, for a description. */
export const PURCHASE_ENDS = '`completed`, `failed` and `abandoned` are final; `failed` means definitely not bought.';

/** What an operator needs beside what a shop sees. */
export const operationsOutput = z
  .strictObject({
    attempts: z.int().min(0).meta({ description: 'Number of attempts, sent or not: held work has its first one.' }),
    attention: z
      .strictObject({ reason: attentionReason, meaning: z.string(), advice: z.string() })
      .nullable()
      .meta({ description: 'Why it needs attention.' }),
    resubmission: resubmissionSchema,
    next_step_at: instant.nullable().meta({ description: 'The time of the next step, if it is known.' }),
    retry_policy: retryPolicy,
  })
  .meta({ id: 'WorkOperations' });

/**
 * The answer fields of work of every kind.
 *
 * @param ends text of the description about the final statuses.
 */
export function workOutput<Status extends WorkStatus>(kind: WorkKind, statuses: Statuses<Status>, ends: string) {
  return {
    status: z.enum(statuses).meta({
      description:
        '`accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being ' +
        `${KINDS[kind].isPurchase ? 'bought' : 'requested'}. \`processing\`: the service works on it. ` +
        `\`needs_attention\`: waits for a person. ${ends}`,
      example: 'processing',
    }),
    max_price: money.nullable(),
    charged: money.nullable().meta({ description: 'Amount that the service charged, once it is known.' }),
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
        'The deadline of the caller for held work. `null`: 48 hours after it was accepted ' +
        '(`retry.hold_deadline`), which also limits a later ' +
        'one. `operations.retry_policy.gives_up_at` is the effective time.',
    }),
    metadata: z.record(z.string(), z.string()),
    created_by: createdBy,
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable().meta({
      description: 'When it was bought or carried out; null until then, and for failed, refused or abandoned work.',
    }),
    operations: operationsOutput.optional().meta({
      description: `With \`expand=operations\`, and in the answers of operator actions.`,
    }),
  };
}

/** The answer fields of work with a reference of the caller's own. */
export function referenceOutput(kind: WorkKind, exampleId: string) {
  const { noun } = KINDS[kind];
  return {
    customer_price: money
      .nullable()
      .meta({ description: 'Price that your customer pays, as you gave it; null: not given.' }),
    replaces: ourId(kind, exampleId)
      .nullable()
      .meta({ description: `The ${noun} that had this reference before and ended without buying; null: none.` }),
    replaced_by: ourId(kind, exampleId)
      .nullable()
      .meta({ description: `The ${noun} that uses this reference again, after this one ended without buying.` }),
  };
}

/** {@link referenceOutput} of work that was just accepted. */
export const referenceOutputExample = { customer_price: null, replaces: null, replaced_by: null } as const;

/** {@link workOutput} of work that was just accepted. */
export const workOutputExample = {
  status: 'accepted',
  max_price: { amount: '12.50', currency: 'EUR' },
  charged: null,
  failure: null,
  attention: null,
  deadline: null,
  metadata: { shop_order: 'A-1001' },
  created_by: exampleKeyId,
  created_at: '2030-01-31T12:00:00.000Z',
  updated_at: '2030-01-31T12:00:00.000Z',
  completed_at: null,
} as const;

/** {@link operationsOutput} of work that was just accepted. */
export function operationsExample(kind: WorkKind): z.input<typeof operationsOutput> {
  return {
    attempts: 0,
    attention: null,
    resubmission: resubmission({ kind, status: 'accepted', attempts: [], inDoubt: false }),
    next_step_at: null,
    retry_policy: {
      attempts: null,
      first_wait_seconds: null,
      longest_wait_seconds: null,
      gives_up_at: null,
      changed: [],
    },
  };
}

/** Filters and paging of every list of work. */
export function workListQuery<Status extends WorkStatus>(
  kind: WorkKind,
  statuses: Statuses<Status>,
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
