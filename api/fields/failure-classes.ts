import * as z from 'zod';
import { meaningsOf } from '#api/fields/meanings.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, FAILURE_ENDS, type FailureClass, type FailureEnd } from '#domain/work/failure.ts';

/** Failure classes in a query, without a schema id: parameters contain their schema. */
export const failureClassInQuery = z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]);

/** A request takes the known classes; an answer may have others, in later versions. */
export const failureClass = failureClassInQuery.meta({
  id: 'KnownFailureClass',
  outputId: 'FailureClass',
  description: meaningsOf(FAILURE_CLASSES),
});

/** Why work that failed was not tried again. */
export const failureEnd = z
  .enum(Object.keys(FAILURE_ENDS) as [FailureEnd, ...FailureEnd[]])
  .nullable()
  .meta({
    description:
      `What ended it: ${meaningsOf(FAILURE_ENDS)} Null while it may be tried again, and when the failure is final ` +
      'by itself.',
    example: null,
  });

/** The reason of a failure in the words of the service. */
export const serviceMessage = z
  .string()
  .nullable()
  .meta({
    description:
      'The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign ' +
      'text: show it as text, and do not compare it.',
    example: null,
  });

/** Reasons of cases in a query, without a schema id. */
export const attentionReasonInQuery = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);

export const attentionReason = attentionReasonInQuery.meta({
  id: 'KnownAttentionReason',
  outputId: 'AttentionReason',
  description: meaningsOf(ATTENTION_REASONS),
});
