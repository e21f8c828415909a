import * as z from 'zod';
import { meaningsOf } from '#api/fields/meanings.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

/** Failure classes in a query, without a schema id: parameters contain their schema. */
export const failureClassInQuery = z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]);

/** A request takes the known classes; an answer may have others, in later versions. */
export const failureClass = failureClassInQuery.meta({
  id: 'KnownFailureClass',
  outputId: 'FailureClass',
  description: meaningsOf(FAILURE_CLASSES),
});

/** Reasons of cases in a query, without a schema id. */
export const attentionReasonInQuery = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);

export const attentionReason = attentionReasonInQuery.meta({
  id: 'KnownAttentionReason',
  outputId: 'AttentionReason',
  description: meaningsOf(ATTENTION_REASONS),
});
