/** Texts of operator actions for the timeline. */
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import { durationText, type RetryChange } from '#domain/retry/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

/** An action as a sentence. */
export function sentence({ kind }: WorkRef, action: OperatorAction): string {
  switch (action.action) {
    case 'retry':
      return 'An operator requested a retry.';
    case 'release':
      return 'An operator released it through the purchase gate, past pauses and open circuits.';
    case 'abandon':
      return `An operator abandoned the ${KINDS[kind].noun}.`;
    case 'change_limit': {
      const { maxPrice } = action;
      return maxPrice === null
        ? 'An operator removed the price limit.'
        : `An operator set the price limit to ${maxPrice.amount} ${maxPrice.currency}.`;
    }
    case 'change_retry':
      return `An operator changed how it is tried again: ${changeText(action.change)}.`;
    case 'resolve':
      return `An operator resolved the case ${action.reason} with the verdict ${action.verdict}.`;
  }
}

function changeText({ attempts, firstDelayMs, maxDelayMs, deadlineAt }: RetryChange): string {
  const asConfigured = 'as configured';
  const delay = (ms: number | null) => (ms === null ? asConfigured : durationText(ms));
  return [
    ...(attempts === undefined ? [] : [`attempts ${attempts ?? asConfigured}`]),
    ...(firstDelayMs === undefined ? [] : [`first wait ${delay(firstDelayMs)}`]),
    ...(maxDelayMs === undefined ? [] : [`longest wait ${delay(maxDelayMs)}`]),
    ...(deadlineAt === undefined
      ? []
      : [`deadline ${deadlineAt === null ? asConfigured : new Date(deadlineAt).toISOString()}`]),
  ].join(', ');
}

/** An action as structured detail. */
export function detailOf(action: OperatorAction): Record<string, string> {
  if (action.action !== 'resolve') return {};
  const { reason, verdict, serviceId, serviceEsimId, next } = action;
  return {
    case: reason,
    verdict,
    ...(serviceId !== undefined && { service_id: serviceId }),
    ...(serviceEsimId !== undefined && { service_esim_id: serviceEsimId }),
    ...(next !== undefined && { next }),
  };
}
