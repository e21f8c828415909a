import type { CancellationOutput } from '#api/cancellations/cancellation-schemas.ts';
import type { TopupOutput } from '#api/esims/topup-schemas.ts';
/** The columns of files of work: those of every kind, and those of one. */
import { amount, safe, text, type CsvColumns } from '#api/lists/csv-file.ts';
import type { OrderOutput } from '#api/orders/order-schemas.ts';
import type { VpnSubscriptionOutput } from '#api/vpn/vpn-subscription-schemas.ts';

/** What every kind shows. */
type Common = Pick<OrderOutput, 'failure' | 'metadata' | 'created_by' | 'created_at' | 'updated_at' | 'completed_at'>;
/** What a purchase shows beside it. */
type Purchase = Pick<
  OrderOutput,
  'max_price' | 'charged' | 'customer_price' | 'customer_reference' | 'replaces' | 'replaced_by'
>;

const common = {
  failure_class: safe(({ failure }) => failure?.class),
  failure_detail: text(({ failure }) => failure?.detail),
  failure_ended_by: safe(({ failure }) => failure?.ended_by),
  failure_service_message: text(({ failure }) => failure?.service_message),
  metadata: text(({ metadata }) => (Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata))),
  created_by: safe((work) => work.created_by),
  created_at: safe((work) => work.created_at),
  updated_at: safe((work) => work.updated_at),
  completed_at: safe((work) => work.completed_at),
} satisfies CsvColumns<Common>;

const purchase = {
  max_price: amount((work) => work.max_price),
  charged: amount((work) => work.charged),
  customer_reference: text((work) => work.customer_reference),
  customer_price: amount((work) => work.customer_price),
  replaces: safe((work) => work.replaces),
  replaced_by: safe((work) => work.replaced_by),
} satisfies CsvColumns<Purchase>;

export const orderCsv: CsvColumns<OrderOutput> = {
  id: safe((order) => order.id),
  status: safe((order) => order.status),
  package_id: safe((order) => order.package_id),
  external_order_id: text((order) => order.external_order_id),
  batch_id: safe((order) => order.batch_id),
  esim_id: safe((order) => order.esim_id),
  service_order_id: text((order) => order.service_order_id),
  ...purchase,
  ...common,
};

export const topupCsv: CsvColumns<TopupOutput> = {
  id: safe((topup) => topup.id),
  status: safe((topup) => topup.status),
  package_id: safe((topup) => topup.package_id),
  external_topup_id: text((topup) => topup.external_topup_id),
  esim_id: safe((topup) => topup.esim_id),
  service_topup_id: text((topup) => topup.service_topup_id),
  ...purchase,
  ...common,
};

export const vpnSubscriptionCsv: CsvColumns<VpnSubscriptionOutput> = {
  id: safe((subscription) => subscription.id),
  status: safe((subscription) => subscription.status),
  vpn_plan_id: safe((subscription) => subscription.vpn_plan_id),
  external_subscription_id: text((subscription) => subscription.external_subscription_id),
  service_subscription_id: text((subscription) => subscription.service_subscription_id),
  started_at: safe((subscription) => subscription.started_at),
  expires_at: safe((subscription) => subscription.expires_at),
  current_period_start: safe((subscription) => subscription.current_period_start),
  current_period_end: safe((subscription) => subscription.current_period_end),
  cancel_requested_at: safe((subscription) => subscription.cancel_requested_at),
  cancelled_at: safe((subscription) => subscription.cancelled_at),
  ended_at: safe((subscription) => subscription.ended_at),
  ...purchase,
  ...common,
};

export const cancellationCsv: CsvColumns<CancellationOutput> = {
  id: safe((cancellation) => cancellation.id),
  status: safe((cancellation) => cancellation.status),
  esim_id: safe((cancellation) => cancellation.esim_id),
  reason: text((cancellation) => cancellation.reason),
  cancelled_at: safe((cancellation) => cancellation.cancelled_at),
  refund_status: safe(({ refund }) => refund?.status),
  refund: amount(({ refund }) => refund?.amount),
  ...common,
};
