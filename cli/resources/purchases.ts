import { file, type FileCall, list, object, type ResourceDefinition } from '#cli/resources/definition.ts';
import { type Columns, flexible, money, status, text, time } from '#cli/terminal/columns.ts';
import type { TimelineEntry } from '#clients/typescript/src/index.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';

interface Explained {
  readonly failure: { readonly class: string } | null;
  readonly operations?: { readonly attention: { readonly reason: string } | null };
}

const TIMELINE: Columns<TimelineEntry> = {
  at: time((entry) => entry.at),
  event: text((entry) => entry.event),
  message: flexible((entry) => entry.message),
};

const orders: ResourceDefinition = {
  command: KINDS.order.command,
  about: 'orders of eSIM packages',
  commands: {
    list: list(
      'listOrders',
      {
        id: text((order) => order.id),
        status: status((order) => order.status),
        reason: text(reasonOf),
        external_order_id: flexible((order) => order.external_order_id),
        package_id: text((order) => order.package_id),
        esim_id: text((order) => order.esim_id),
        charged: money((order) => order.charged),
        created_at: time((order) => order.created_at),
        next_step_at: time((order) => order.operations?.next_step_at),
      },
      {
        examples: [
          ['--status held,needs_attention', 'those that wait'],
          ['--customer-reference C-2207', 'what a customer has ordered'],
          ['--external-order-id sale-1,sale-2 --metadata shop=madrid', 'two of a shop, if they are of this branch'],
          ['--created-after 24h --csv', 'those of the last day, for a spreadsheet'],
        ],
      },
    ),
    show: object('getOrder', { examples: [['ord_… --wait 30', 'when it has ended, at the latest after 30 seconds']] }),
    create: object('createOrder', {
      examples: [
        ['--package-id 1001 --external-order-id sale-1 --max-price "5.00 USD" --wait 20', 'buys an eSIM'],
        ['--body order.json', 'the body from a file; - reads the standard input'],
      ],
    }),
    export: exportTo('orders.csv', 'exportOrders'),
    timeline: list('getOrderTimeline', TIMELINE),
  },
};

const topups: ResourceDefinition = {
  command: KINDS.topup.command,
  about: 'top-ups of eSIMs',
  commands: {
    list: list('listTopups', {
      id: text((topup) => topup.id),
      status: status((topup) => topup.status),
      reason: text(reasonOf),
      external_topup_id: flexible((topup) => topup.external_topup_id),
      esim_id: text((topup) => topup.esim_id),
      package_id: text((topup) => topup.package_id),
      charged: money((topup) => topup.charged),
      created_at: time((topup) => topup.created_at),
      next_step_at: time((topup) => topup.operations?.next_step_at),
    }),
    show: object('getTopup'),
    create: object('createTopup', {
      examples: [['--esim-id esim_… --package-id 1001 --external-topup-id sale-1-topup', 'recharges an eSIM']],
    }),
    export: exportTo('topups.csv', 'exportTopups'),
    timeline: list('getTopupTimeline', TIMELINE),
  },
};

const vpn: ResourceDefinition = {
  command: KINDS.vpn_subscription.command,
  about: 'VPN subscriptions and plans',
  commands: {
    list: list('listVpnSubscriptions', {
      id: text((subscription) => subscription.id),
      status: status((subscription) => subscription.status),
      reason: text(reasonOf),
      external_subscription_id: flexible((subscription) => subscription.external_subscription_id),
      vpn_plan_id: text((subscription) => subscription.vpn_plan_id),
      charged: money((subscription) => subscription.charged),
      expires_at: time((subscription) => subscription.expires_at),
      ended_at: time((subscription) => subscription.ended_at),
      created_at: time((subscription) => subscription.created_at),
      next_step_at: time((subscription) => subscription.operations?.next_step_at),
    }),
    show: object('getVpnSubscription'),
    create: object('createVpnSubscription', {
      examples: [
        [
          '--vpn-plan-id 7 --external-subscription-id sale-2 --customer-reference C-1 --customer-price "5.99 USD"',
          'orders a subscription',
        ],
      ],
    }),
    export: exportTo('vpn.csv', 'exportVpnSubscriptions'),
    timeline: list('getVpnSubscriptionTimeline', TIMELINE),
    cancel: object('cancelVpnSubscription', {
      examples: [['vpn_… --reason "The customer ended it." --wait 20', 'ends a subscription for its customer']],
    }),
    access: object('getVpnAccess'),
    plans: list('listVpnPlans', {
      id: text((plan) => plan.id),
      name: flexible((plan) => plan.name),
      duration_days: text((plan) => plan.duration_days),
      price_for_reseller: money((plan) => plan.price_for_reseller),
      suggested_price: money((plan) => plan.suggested_price),
      available: text((plan) => plan.available),
    }),
  },
};

const cancellations: ResourceDefinition = {
  command: KINDS.cancellation.command,
  about: 'cancellations of eSIMs with refunds',
  commands: {
    list: list('listCancellations', {
      id: text((cancellation) => cancellation.id),
      status: status((cancellation) => cancellation.status),
      reason: text(reasonOf),
      esim_id: text((cancellation) => cancellation.esim_id),
      refund_status: status((cancellation) => cancellation.refund?.status),
      refund: money((cancellation) => cancellation.refund?.amount),
      created_at: time((cancellation) => cancellation.created_at),
      next_step_at: time((cancellation) => cancellation.operations?.next_step_at),
    }),
    show: object('getCancellation'),
    export: exportTo('cancellations.csv', 'exportCancellations'),
    timeline: list('getCancellationTimeline', TIMELINE),
  },
};

export const PURCHASES: Readonly<Record<WorkKind, ResourceDefinition>> = {
  order: orders,
  topup: topups,
  vpn_subscription: vpn,
  cancellation: cancellations,
};

function exportTo(output: string, call: FileCall) {
  return file(call, { examples: [[`--created-after 30d --output ${output}`, 'those of 30 days, whole']] });
}

function reasonOf({ operations, failure }: Explained): string | undefined {
  return operations?.attention?.reason ?? failure?.class;
}
