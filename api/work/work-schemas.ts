/** Fields that requests and answers about work of every kind share. */
import * as z from 'zod';
import {
  createdBy,
  createdByInQuery,
  exampleKeyId,
  FILLED_TEXT_PATTERN,
  instant,
  instantInput,
  listOf,
  meaningsOf,
  money,
  moneyInput,
  pageOf,
  pageQuery,
  TEXT_PATTERN,
  timeInQuery,
  wholeNumber,
} from '#api/lists/fields.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { isCallerReference } from '#domain/work/identifiers.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { CASE_VERDICTS, caseVerdicts, MAX_ACT_REASON, type CaseVerdict } from '#domain/work/operator-actions.ts';
import { RETRY_BOUNDS } from '#domain/work/retry-rules.ts';
import { KINDS, type WorkKind } from '#domain/work/work.ts';

const MAX_METADATA = 20;
const MAX_METADATA_VALUE = 500;

const metadataKey = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/,
    'must have 1 to 40 letters, digits, `_`, `.` or `-` and begin with a letter or digit',
  );

const metadataValue = z
  .string()
  .max(MAX_METADATA_VALUE)
  // PostgreSQL stores neither NUL nor half of a surrogate pair in JSON.
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  .meta({ override: { pattern: TEXT_PATTERN } });

export const metadata = z
  .record(metadataKey, metadataValue)
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA, { message: `must have at most ${MAX_METADATA} pairs` })
  .meta({
    description: 'Your own notes, returned as they are. Not encrypted: keep personal data out.',
    example: { shop_order: 'A-1001' },
    override: { maxProperties: MAX_METADATA },
  });

/** The caller's own reference of work. */
export function callerReference(kind: WorkKind, example: string) {
  return z
    .string()
    .refine(isCallerReference, { message: 'must have 1 to 64 visible ASCII characters other than `~`' })
    .meta({
      description: `Your own reference, unique for ever: one ${KINDS[kind].noun} is made for it, however often you ask.`,
      example,
      override: { pattern: '^[!-}]{1,64}$' },
    });
}

/** What whoever buys may set. */
export function purchaseInput(kind: WorkKind) {
  const noun = KINDS[kind].noun;
  return {
    max_price: moneyInput.optional().meta({
      description: `The most that the service may charge, in the currency of its price. While it asks for more, the ${noun} is held; so it is with a limit in another currency, which allows no price, until the limit is changed.`,
    }),
    deadline: deadlineInput(kind),
    metadata: metadata.optional(),
  };
}

/** When what is held ends. */
export function deadlineInput(kind: WorkKind) {
  const ends = KINDS[kind].isPurchase ? 'fails without having bought' : 'is refused without having been sent';
  return instantInput.optional().meta({
    description: `What is still held then ${ends}. In the future. Without it, and at the latest: 24 hours after it was accepted (\`POLICY_HOLD_DEADLINE\`, and \`POLICY_RETRY_RULES\` for single classes of failure).`,
    override: { type: 'string', format: 'date-time' },
  });
}

/** Of the catalogue of failures. In a query: parameters are written out, and refer to no schema. */
export const failureClassInQuery = z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]);
export const failureClass = failureClassInQuery.meta({ id: 'FailureClass', description: meaningsOf(FAILURE_CLASSES) });
/** What work, or a delivery, waits for a person for. In a query, as above. */
export const attentionReasonInQuery = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);
export const attentionReason = attentionReasonInQuery.meta({
  id: 'AttentionReason',
  description: meaningsOf(ATTENTION_REASONS),
});

/** Of one kind, as `statusesOf` lists them. */
type Statuses<Status extends WorkStatus> = readonly [Status, ...Status[]];

const BOUGHT_ENDS = '`completed`, `failed` and `abandoned` are final; `failed` means definitely not bought.';

const ENDS = {
  order: BOUGHT_ENDS,
  topup: BOUGHT_ENDS,
  vpn_subscription:
    '`active`: bought. `cancelling`: its customer has ended it. `cancelled`, `expired`, `failed` and `abandoned` are final; `failed` ' +
    'means definitely not bought.',
  cancellation: '`completed`, `refused` and `abandoned` are final; after the last two the eSIM is as it was.',
} as const satisfies Record<WorkKind, string>;

/** Whether the same may be submitted once more. */
const submitAgain = z
  .strictObject({
    verdict: z.enum(['not_needed', 'no', 'yes']),
    why: z.string(),
  })
  .meta({
    description:
      'Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. ' +
      '`no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or what was bought has ended.',
  });

/** By what work is tried again. */
const retryPolicy = z
  .strictObject({
    attempts: z.int().nullable().meta({
      description:
        'Attempts in all, those that operators have granted included. `attempts` of the work says how many were made.',
      example: 3,
    }),
    first_wait_seconds: z.number().nullable().meta({
      description: 'First wait before it is tried again; doubled each time. A time that the service names goes first.',
      example: 15,
    }),
    longest_wait_seconds: z.number().nullable().meta({ description: 'Longest such wait.', example: 600 }),
    gives_up_at: instant
      .nullable()
      .meta({ description: 'What is still held then ends. What may have been bought never ends by this.' }),
    changed: z.array(z.enum(['attempts', 'first_wait', 'longest_wait', 'deadline'])).meta({
      description: 'What an operator has set for this one; empty: all is as configured.',
    }),
  })
  .meta({
    id: 'RetryPolicy',
    description:
      'By what it is tried again, for what holds it now or failed last. `null`: as configured, which its workflow says once it begins. ' +
      'What the purchase gate holds goes on when that is over, whatever the waits are.',
  });

const { attempts: ATTEMPTS, delayMs: DELAY } = RETRY_BOUNDS;
const secondsInput = wholeNumber(DELAY.min / 1_000, DELAY.max / 1_000)
  .nullable()
  .optional();

/** What of the retry policy of one piece of work is to change. */
export const retryPolicyInput = {
  attempts: wholeNumber(ATTEMPTS.min, ATTEMPTS.max).nullable().optional().meta({
    description: 'Attempts in all, those that were made included. With fewer than were made no further one follows.',
  }),
  first_wait_seconds: secondsInput.meta({ description: 'First wait; doubled each time.' }),
  longest_wait_seconds: secondsInput.meta({ description: 'Longest wait.' }),
  deadline: instantInput
    .meta({ override: { type: 'string', format: 'date-time' } })
    .nullable()
    .optional()
    .meta({
      description:
        'In place of the deadline that the caller named and of the configured one; in the future, and 92 days ahead at most.',
    }),
};

/** What the answer about work of every kind holds. */
export function workOutput<Status extends WorkStatus>(kind: WorkKind, statuses: Statuses<Status>) {
  return {
    status: z.enum(statuses).meta({
      description:
        '`accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being ' +
        `${kind === 'cancellation' ? 'asked for' : 'bought'}. \`processing\`: the service works on it. ` +
        `\`needs_attention\`: waits for a person. ${ENDS[kind]}`,
      example: 'processing',
    }),
    max_price: money.nullable(),
    charged: money.nullable().meta({ description: 'What the service charged, once it is known.' }),
    failure: z
      .strictObject({
        class: failureClass,
        detail: z.string().nullable(),
        meaning: z.string(),
        advice: z.string(),
      })
      .nullable()
      .meta({ description: 'Why it failed, or what holds it at present.' }),
    attention: z
      .strictObject({ reason: attentionReason, meaning: z.string(), advice: z.string() })
      .nullable()
      .meta({ description: 'What it waits for a person for.' }),
    submit_again: submitAgain,
    next_step_at: instant.nullable().meta({ description: 'When time brings the next step, if time does.' }),
    deadline: instant.nullable().meta({
      description:
        'When what is held ends, as the caller named it. `null`: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`), which bounds a later ' +
        'one as well. `retry_policy.gives_up_at` is what counts.',
    }),
    retry_policy: retryPolicy,
    metadata: z.record(z.string(), z.string()),
    attempts: z
      .int()
      .min(0)
      .meta({ description: 'Attempts made, whether or not they were sent: held work has its first.' }),
    created_by: createdBy,
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable().meta({
      description: 'When it was bought or carried out; null until then, and for what failed, was refused or abandoned.',
    }),
  };
}

const NOTHING_CHANGED: z.input<typeof retryPolicy>['changed'] = [];

/** {@link workOutput} of work that was just accepted. */
export const workOutputExample = {
  status: 'accepted',
  max_price: { amount: '12.50', currency: 'EUR' },
  charged: null,
  failure: null,
  attention: null,
  submit_again: {
    verdict: 'not_needed',
    why: 'Nothing is bought so far, and this one still goes on: a second would be bought as well. Have it abandoned first.',
  },
  next_step_at: null,
  deadline: null,
  retry_policy: {
    attempts: null,
    first_wait_seconds: null,
    longest_wait_seconds: null,
    gives_up_at: null,
    changed: NOTHING_CHANGED,
  },
  metadata: { shop_order: 'A-1001' },
  attempts: 0,
  created_by: exampleKeyId,
  created_at: '2030-01-31T12:00:00.000Z',
  updated_at: '2030-01-31T12:00:00.000Z',
  completed_at: null,
} as const;

/** By what every list of work can be narrowed, and its pages. */
export function workListQuery<Status extends WorkStatus>(statuses: Statuses<Status>) {
  return {
    status: listOf(statuses).optional().meta({ description: 'One status, or several, separated by commas.' }),
    failure_class: failureClassInQuery.optional().meta({ description: 'What holds it, or why it failed.' }),
    attention: attentionReasonInQuery.optional().meta({ description: 'What it waits for a person for.' }),
    created_by: createdByInQuery.optional(),
    created_after: timeInQuery('Later than this.'),
    created_before: timeInQuery('Earlier than this.'),
    updated_after: timeInQuery('Changed later than this.'),
    ...pageQuery,
  };
}

export const timelineEntry = z
  .strictObject({
    at: instant,
    event: z.string().meta({ description: 'Stable name.', example: 'order.accepted' }),
    message: z.string().meta({ description: 'A sentence for people.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  })
  .meta({ id: 'TimelineEntry' });

/** Where work stands at the moment of the answer. */
const standing = z
  .strictObject({
    now: z.string().meta({
      description: 'Where it stands, in a sentence.',
      example: 'The order is held: it waits for something that passes.',
    }),
    why: z.string().nullable().meta({ description: 'What it waits for, or why it did not come to its aim.' }),
    next: z.string().meta({ description: 'What happens next.' }),
    next_at: instant.nullable().meta({ description: 'When, if time brings it.' }),
    submit_again: submitAgain.meta({ description: 'As of the resource.' }),
  })
  .meta({ id: 'Standing' });

export const timelinePage = pageOf(timelineEntry, 'TimelinePage').extend({ standing }).meta({ id: 'Timeline' });
export const timelineQuery = z.strictObject(pageQuery);

/** Why a person acts; asked for with every act. */
export const reasonForAct = z
  .string()
  .trim()
  .min(1, 'must say why')
  .max(MAX_ACT_REASON)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  .meta({
    description: 'Why, for whoever reads the timeline. Keep personal data out.',
    example: 'The customer no longer wants it.',
    override: { pattern: FILLED_TEXT_PATTERN },
  });

/** What the change of a limit says, of one piece of work or of many. */
export const limitFields = {
  max_price: moneyInput.nullable().meta({ description: '`null` takes the limit away.' }),
} as const;

/** What a verdict on an open case says, of one piece of work or of many. */
export const verdictFields = {
  case: attentionReason.meta({ description: 'The reason of the open case, as `attention.reason` shows it.' }),
  verdict: z.enum(caseVerdicts as [CaseVerdict, ...CaseVerdict[]]).meta({
    description: meaningsOf(CASE_VERDICTS),
  }),
  next: z.enum(['continue', 'abandon']).optional().meta({
    description: 'With `not_bought`: buy anew (the default), or give it up.',
  }),
} as const;
