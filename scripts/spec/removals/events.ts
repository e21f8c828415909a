/** Removals for the statements about events and their headers. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const EVENTS: readonly Removal[] = [
  {
    id: 'event.ping',
    removed: 'It is quarantined.',
    file: 'api/service-webhooks/delivery-parsing.ts',
    find: "state: 'ignored',",
    replace: "state: 'quarantined',",
    failed: [
      {
        file: 'test/integration/events/service-webhooks/signed-deliveries.test.ts',
        title: 'is acknowledged and ignored',
      },
    ],
  },
  {
    id: 'event.order.completed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceOrderId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'completed') return undefined;\n      const { kind, serviceOrderId: serviceId, " +
      '...rest } = event;',
    failed: [{ file: 'test/integration/orders/order.test.ts', title: 'is completed by its webhook without a look-up' }],
  },
  {
    id: 'event.order.processing',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceOrderId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'processing') return undefined;\n      const { kind, serviceOrderId: serviceId, " +
      '...rest } = event;',
    failed: [{ file: 'test/integration/orders/order-webhooks.test.ts', title: 'has no effect after a later one' }],
  },
  {
    id: 'event.order.failed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceOrderId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'failed') return undefined;\n      const { kind, serviceOrderId: serviceId, " +
      '...rest } = event;',
    failed: [
      {
        file: 'test/integration/orders/order-failed.test.ts',
        title: 'gets a new attempt with another key and reference after the credit',
      },
    ],
  },
  {
    id: 'event.topup.completed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceTopupId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'completed') return undefined;\n      const { kind, serviceTopupId: serviceId, " +
      '...rest } = event;',
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'is completed by a webhook without a look-up' },
    ],
  },
  {
    id: 'event.topup.processing',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceTopupId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'processing') return undefined;\n      const { kind, serviceTopupId: serviceId, " +
      '...rest } = event;',
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'is processing after its webhook, without a look-up' },
    ],
  },
  {
    id: 'event.topup.failed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceTopupId: serviceId, ...rest } = event;',
    replace:
      "if (event.outcome === 'failed') return undefined;\n      const { kind, serviceTopupId: serviceId, " +
      '...rest } = event;',
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'gets a new attempt after its failure and credit' },
    ],
  },
  {
    id: 'event.esim.cancelled',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'return cancellation(serviceEsimId,',
    replace: 'if (refund !== null) return undefined;\n      return cancellation(serviceEsimId,',
    failed: [
      { file: 'test/integration/purchases/cancellation.test.ts', title: 'with reversed events is completed once' },
    ],
  },
  {
    id: 'event.refund.completed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'return cancellation(event.serviceEsimId,',
    replace: "if (event.status === 'completed') return undefined;\n      return cancellation(event.serviceEsimId,",
    failed: [
      { file: 'test/integration/purchases/cancellation.test.ts', title: 'with reversed events is completed once' },
    ],
  },
  {
    id: 'event.refund.failed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'return cancellation(event.serviceEsimId,',
    replace: "if (event.status === 'failed') return undefined;\n      return cancellation(event.serviceEsimId,",
    failed: [
      {
        file: 'test/integration/purchases/cancellation.test.ts',
        title: 'refused in review ends as refused, and frees the eSIM',
      },
    ],
  },
  {
    id: 'event.vpn.subscription.active',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;',
    replace:
      "if (event.status === 'active') return undefined;\n      const { kind, status, serviceSubscriptionId: " +
      'serviceId, ...rest } = event;',
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'becomes active by its webhook or a look-up',
      },
    ],
  },
  {
    id: 'event.vpn.subscription.cancelled',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;',
    replace:
      "if (event.status === 'cancelled') return undefined;\n      const { kind, status, serviceSubscriptionId: " +
      'serviceId, ...rest } = event;',
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'is reported by webhook when it takes time',
      },
    ],
  },
  {
    id: 'event.vpn.subscription.expired',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;',
    replace:
      "if (event.status === 'expired') return undefined;\n      const { kind, status, serviceSubscriptionId: " +
      'serviceId, ...rest } = event;',
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'by the service (%s) is reported by its webhook',
      },
    ],
  },
  {
    id: 'event.vpn.subscription.failed',
    removed: 'It does not count as an event of a purchase.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;',
    replace:
      "if (event.status === 'failed') return undefined;\n      const { kind, status, serviceSubscriptionId: " +
      'serviceId, ...rest } = event;',
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'needs attention when the service reports it as failed',
      },
    ],
  },
  {
    id: 'events.closed-list',
    removed: 'A fifteenth kind is known.',
    file: 'upstream/contract/events.ts',
    find: '\n] as const;',
    replace: "\n  'topup.cancelled',\n] as const;",
    failed: [{ file: 'test/unit/upstream/lifecycle-events.test.ts', title: 'is one of fourteen' }],
  },
  {
    id: 'header.webhook.event',
    removed: 'It is read from another header.',
    file: 'upstream/contract/fields.ts',
    find: '${prefix}-Event',
    replace: '${prefix}-Other-Event',
    failed: [
      {
        file: 'test/integration/events/service-webhooks/signed-deliveries.test.ts',
        title: 'is stored encrypted before its 200',
      },
    ],
  },
  {
    id: 'header.webhook.delivery',
    removed: 'It is read from another header.',
    file: 'upstream/contract/fields.ts',
    find: '${prefix}-Delivery',
    replace: '${prefix}-Other-Delivery',
    failed: [
      {
        file: 'test/integration/events/service-webhooks/repeated-deliveries.test.ts',
        title: 'fifty times at once leaves one row',
      },
    ],
  },
  {
    id: 'header.webhook.timestamp',
    removed: 'It is read from another header.',
    file: 'upstream/contract/fields.ts',
    find: '${prefix}-Timestamp',
    replace: '${prefix}-Other-Timestamp',
    failed: [{ file: 'test/integration/events/service-webhooks/signed-deliveries.test.ts', title: 'is verified' }],
  },
  {
    id: 'header.webhook.signature',
    removed: 'It is read from another header.',
    file: 'upstream/contract/fields.ts',
    find: '${prefix}-Signature',
    replace: '${prefix}-Other-Signature',
    failed: [{ file: 'test/integration/events/service-webhooks/signed-deliveries.test.ts', title: 'is verified' }],
  },
];
