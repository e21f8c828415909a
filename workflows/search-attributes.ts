/** Stored in plain text, outside the payload codec: never put anything personal or secret into them. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { WorkKind, WorkStart } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** PostgreSQL-backed visibility refuses longer keywords, although the development server takes them. */
const KEYWORD_MAX_LENGTH = 255;

const PRODUCTS = {
  order: 'esim-order',
  topup: 'esim-topup',
  vpn_subscription: 'vpn-subscription',
  cancellation: 'esim-cancellation',
} as const satisfies Record<WorkKind, string>;

export const WEBHOOK_PRODUCT = 'webhook-endpoint';

/** `retrying`: a try has failed. `failing`: all tries fail. */
export const WEBHOOK_STAGES = { delivering: 'delivering', retrying: 'retrying', failing: 'failing' } as const;

export const SEARCH_ATTRIBUTES = {
  /** One of {@link PRODUCTS}, or {@link WEBHOOK_PRODUCT}. */
  product: defineSearchAttributeKey('Product', 'KEYWORD'),
  stage: defineSearchAttributeKey('Stage', 'KEYWORD'),
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'BOOL'),
  attentionReason: defineSearchAttributeKey('AttentionReason', 'KEYWORD'),
  failureClass: defineSearchAttributeKey('FailureClass', 'KEYWORD'),
  nextRetryAt: defineSearchAttributeKey('NextRetryAt', 'DATETIME'),
  externalReference: defineSearchAttributeKey('ExternalReference', 'KEYWORD'),
  packageId: defineSearchAttributeKey('PackageId', 'INT'),
  environment: defineSearchAttributeKey('Environment', 'KEYWORD'),
} as const;

/** @param facts.sendsAtOnce the first task sends, and writes a stage only for an obstacle: most runs end in it. */
export function startSearchAttributes(
  facts: WorkStart & { readonly environment: ServiceMode; readonly sendsAtOnce: boolean },
): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.product, value: PRODUCTS[facts.kind] },
    // Set at the start, it saves each workflow one event.
    ...(facts.sendsAtOnce ? [] : [{ key: SEARCH_ATTRIBUTES.stage, value: 'submitting' satisfies WorkStatus }]),
    { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    { key: SEARCH_ATTRIBUTES.externalReference, value: keyword(facts.externalReference) },
    ...(facts.packageId === undefined ? [] : [{ key: SEARCH_ATTRIBUTES.packageId, value: facts.packageId }]),
    { key: SEARCH_ATTRIBUTES.environment, value: facts.environment },
  ];
}

function keyword(text: string): string {
  return text.length <= KEYWORD_MAX_LENGTH ? text : `${text.slice(0, KEYWORD_MAX_LENGTH - 1)}…`;
}
