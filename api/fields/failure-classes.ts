import * as z from 'zod';
import { meaningsOf } from '#api/fields/meanings.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

/** Of the catalogue of failures. In a query: parameters are written out, and refer to no schema. */
export const failureClassInQuery = z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]);

export const failureClass = failureClassInQuery.meta({ id: 'FailureClass', description: meaningsOf(FAILURE_CLASSES) });

/** What work, or a delivery, waits for a person for. In a query, as above. */
export const attentionReasonInQuery = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);

export const attentionReason = attentionReasonInQuery.meta({
  id: 'AttentionReason',
  description: meaningsOf(ATTENTION_REASONS),
});
