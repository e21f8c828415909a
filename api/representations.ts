/** From rows to the JSON of our answers. */
import { ATTENTION_REASONS } from '#domain/attention.ts';
import { FAILURE_CLASSES } from '#domain/failure.ts';
import type { Money } from '#domain/money.ts';
import type { OrderView, TimelineRow } from '#db/order-queries.ts';
import type { OrderOutput } from '#api/order-schemas.ts';

export function orderJson({ order, attempts, serviceOrderId }: OrderView): OrderOutput {
  return {
    id: order.id,
    status: order.status,
    package_id: order.packageId,
    external_order_id: order.externalOrderId,
    esim_id: order.esimId,
    service_order_id: serviceOrderId,
    max_price: moneyJson(order.maxPriceAmount, order.maxPriceCurrency),
    charged: moneyJson(order.chargedAmount, order.chargedCurrency),
    failure: failureJson(order),
    attention: attentionJson(order),
    next_step_at: instantJson(order.nextStepAt),
    deadline: instantJson(order.deadlineAt),
    metadata: order.metadata,
    attempts,
    created_at: order.createdAt.toISOString(),
    updated_at: order.updatedAt.toISOString(),
    completed_at: instantJson(order.completedAt),
  };
}

export function timelineJson({ at, event, message, detail }: TimelineRow) {
  return { at: at.toISOString(), event, message, detail };
}

export function instantJson(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}

/**
 * An amount as people write it: the database pads to six digits after the point, of which at least two stay.
 *
 * @returns null unless both parts are there.
 */
export function moneyJson(amount: string | null, currency: string | null): Money | null {
  if (amount === null || currency === null) return null;
  return { amount: plainAmount(amount), currency };
}

export function plainAmount(amount: string): string {
  return amount.replace(/(\.\d{2}\d*?)0+$/, '$1');
}

function failureJson({ failureClass, failureDetail }: OrderView['order']): OrderOutput['failure'] {
  if (failureClass === null) return null;
  const { meaning, advice } = FAILURE_CLASSES[failureClass];
  return { class: failureClass, detail: failureDetail, meaning, advice };
}

function attentionJson({ attentionReason }: OrderView['order']): OrderOutput['attention'] {
  if (attentionReason === null) return null;
  const { meaning, advice } = ATTENTION_REASONS[attentionReason];
  return { reason: attentionReason, meaning, advice };
}
