/**
 * Search attributes: operators filter and sort by them in the Temporal UI. They are stored in plain text, outside the
 * payload codec: never put anything personal or secret into them.
 */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { byKind, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** PostgreSQL-backed visibility refuses longer keywords, although the development server takes them. */
const KEYWORD_MAX_LENGTH = 255;

/** The value of `Product` of each kind of work. */
const PRODUCTS = byKind('product');

/** The value of `Product` of the workflows that deliver to webhook endpoints. */
export const WEBHOOK_PRODUCT = 'webhook-endpoint';

/** The values of `Stage` of these workflows. `retrying`: a try has failed. `failing`: all tries fail. */
export const WEBHOOK_STAGES = { delivering: 'delivering', retrying: 'retrying', failing: 'failing' } as const;

export const SEARCH_ATTRIBUTES = {
  /** One of {@link PRODUCTS}, or {@link WEBHOOK_PRODUCT}. */
  product: defineSearchAttributeKey('Product', 'KEYWORD'),
  /** The status in our API: `accepted`, `held`, … */
  stage: defineSearchAttributeKey('Stage', 'KEYWORD'),
  /** True while it waits for a person. */
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'BOOL'),
  /** Reason of the open case, one of `domain/work/attention.ts`. */
  attentionReason: defineSearchAttributeKey('AttentionReason', 'KEYWORD'),
  /** Name of the last failure's class. */
  failureClass: defineSearchAttributeKey('FailureClass', 'KEYWORD'),
  /** Time of the next step. */
  nextRetryAt: defineSearchAttributeKey('NextRetryAt', 'DATETIME'),
  /** The caller's own reference. */
  externalReference: defineSearchAttributeKey('ExternalReference', 'KEYWORD'),
  packageId: defineSearchAttributeKey('PackageId', 'INT'),
  /** `sandbox` or `production`. */
  environment: defineSearchAttributeKey('Environment', 'KEYWORD'),
} as const;

/** The values that are known when the workflow of work starts. */
export interface StartAttributes {
  readonly kind: WorkKind;
  /** The caller's own reference. */
  readonly externalReference: string;
  /** Of an eSIM package. */
  readonly packageId?: number;
  readonly environment: 'sandbox' | 'production';
}

/** The search attributes that a workflow starts with. */
export function startSearchAttributes(facts: StartAttributes): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.product, value: PRODUCTS[facts.kind] },
    // The first step submits. Set at the start, it saves each workflow one event.
    { key: SEARCH_ATTRIBUTES.stage, value: 'submitting' satisfies WorkStatus },
    { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    { key: SEARCH_ATTRIBUTES.externalReference, value: keyword(facts.externalReference) },
    ...(facts.packageId === undefined ? [] : [{ key: SEARCH_ATTRIBUTES.packageId, value: facts.packageId }]),
    { key: SEARCH_ATTRIBUTES.environment, value: facts.environment },
  ];
}

/** Cuts a text to what every visibility store takes. */
function keyword(text: string): string {
  return text.length <= KEYWORD_MAX_LENGTH ? text : `${text.slice(0, KEYWORD_MAX_LENGTH - 1)}…`;
}
