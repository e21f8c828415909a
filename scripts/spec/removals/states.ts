/** Removals for the statements about states. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const STATES: readonly Removal[] = [
  {
    id: 'state.order.completed',
    removed: 'The product waits for a completed order and does not deliver it.',
    file: 'domain/purchase/purchase-decision.ts',
    find: "return { step: 'deliver' };",
    replace: "return { step: 'await_service' };",
    failed: [{ file: 'test/workflow/orders/order.test.ts', title: 'completed at once by the service' }],
  },
  {
    id: 'state.order.processing',
    removed: 'An order in progress counts as completed.',
    file: 'domain/purchase/purchase-decision.ts',
    find: "return { step: 'await_service' };",
    replace: "return { step: 'deliver' };",
    failed: [{ file: 'test/workflow/orders/order.test.ts', title: 'in progress at the service' }],
  },
  {
    id: 'state.order.failed',
    removed: 'A failed order fails without a look at the wallet.',
    file: 'domain/purchase/purchase-decision.ts',
    find: "return { step: 'settle', failure: 'supplier_failed' };",
    replace: "return { step: 'fail', failure: 'supplier_failed' };",
    failed: [{ file: 'test/workflow/orders/order-results.test.ts', title: 'gets a new attempt only after' }],
  },
  {
    id: 'state.topup.completed',
    removed: 'A top-up that is completed at once counts as in progress.',
    file: 'activities/purchases/topup.ts',
    find: 'purchaseReport(answer.value, answer.value.status)',
    replace: "purchaseReport(answer.value, 'processing')",
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'completed at once costs one debit and one send' },
    ],
  },
  {
    id: 'state.topup.processing',
    removed: 'A top-up that is accepted counts as completed.',
    file: 'activities/purchases/topup.ts',
    find: 'purchaseReport(answer.value, answer.value.status)',
    replace: "purchaseReport(answer.value, 'completed')",
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'is completed by a webhook without a look-up' },
    ],
  },
  {
    id: 'state.topup.failed',
    removed: 'A failed top-up counts as in progress.',
    file: 'upstream/mapping/purchase-events.ts',
    find: 'const { kind, serviceTopupId: serviceId, ...rest } = event;',
    replace:
      "const { kind, serviceTopupId: serviceId, ...rest } = event;\n      if (rest.outcome === 'failed') return " +
      "{ ...rest, outcome: 'processing', kind, serviceId };",
    failed: [
      { file: 'test/integration/purchases/topup.test.ts', title: 'gets a new attempt after its failure and credit' },
    ],
  },
  {
    id: 'state.vpn.active',
    removed: 'An active subscription counts as ordered only.',
    file: 'activities/purchases/vpn-subscription.ts',
    find: "active: 'completed',",
    replace: "active: 'processing',",
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'costs one debit, and protects its access data',
      },
    ],
  },
  {
    id: 'state.vpn.cancelled',
    removed: 'A subscription that the service has cancelled is shown as expired.',
    file: 'workflows/vpn-subscription.ts',
    find: 'subscription.end(stored.endedAs,',
    replace: "subscription.end('expired',",
    failed: [{ file: 'test/workflow/vpn-subscription.test.ts', title: 'ends at once when the service' }],
  },
  {
    id: 'state.vpn.cancelled',
    removed: 'A read that shows it as cancelled has no effect.',
    file: 'activities/purchases/vpn-subscription.ts',
    find: "status === 'cancelled' || status === 'expired' ? status",
    replace: "status === 'expired' ? status",
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'by its customer is known despite a lost answer',
      },
    ],
  },
  {
    id: 'state.vpn.expired',
    removed: 'A subscription that has expired is shown as cancelled.',
    file: 'workflows/vpn-subscription.ts',
    find: 'subscription.end(stored.endedAs,',
    replace: "subscription.end('cancelled',",
    failed: [{ file: 'test/workflow/vpn-subscription.test.ts', title: 'without a known end is' }],
  },
  {
    id: 'state.vpn.failed',
    removed: 'A failed subscription counts as active.',
    file: 'upstream/mapping/purchase-events.ts',
    find: "outcome: status === 'failed' ? 'failed' : 'completed'",
    replace: "outcome: 'completed'",
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'gets a new attempt after its failure and credit',
      },
    ],
  },
  {
    id: 'state.simulated.installed',
    removed: 'The simulation does not accept it.',
    file: 'upstream/contract/resources.ts',
    find: "['installed', 'active', 'consumed']",
    replace: "['active', 'consumed']",
    failed: [{ file: 'test/unit/upstream/client/client-esims.test.ts', title: 'sets a sandbox eSIM to %s' }],
  },
  {
    id: 'state.simulated.active',
    removed: 'The simulation does not accept it.',
    file: 'upstream/contract/resources.ts',
    find: "['installed', 'active', 'consumed']",
    replace: "['installed', 'consumed']",
    failed: [{ file: 'test/unit/upstream/client/client-esims.test.ts', title: 'sets a sandbox eSIM to %s' }],
  },
  {
    id: 'state.simulated.consumed',
    removed: 'The simulation does not accept it.',
    file: 'upstream/contract/resources.ts',
    find: "['installed', 'active', 'consumed']",
    replace: "['installed', 'active']",
    failed: [{ file: 'test/unit/upstream/client/client-esims.test.ts', title: 'sets a sandbox eSIM to %s' }],
  },
  {
    id: 'state.esim.cancelled',
    removed: 'The eSIM is not shown as cancelled.',
    file: 'fulfilment/work/record-cancellation.ts',
    find: "status: 'cancelled', updatedAt: sql`now()`",
    replace: 'updatedAt: sql`now()`',
    failed: [
      {
        file: 'test/integration/purchases/cancellation.test.ts',
        title: 'is completed once the refund is in the wallet',
      },
    ],
  },
  {
    id: 'state.refund.completed',
    removed: 'A refund that is completed leaves the cancellation open.',
    file: 'domain/cancellation/refund.ts',
    find: "if (refund.state === 'completed' || refund",
    replace: 'if (refund',
    failed: [{ file: 'test/property/domain/refund.test.ts', title: '%j means %s for the attempt' }],
  },
  {
    id: 'state.refund.completed',
    removed: 'The eSIM is cancelled, and its refund stays expected.',
    file: 'fulfilment/work/settle-refund.ts',
    find: 'set({ status, updatedAt',
    replace: 'set({ updatedAt',
    failed: [
      {
        file: 'test/integration/purchases/cancellation.test.ts',
        title: 'is completed once the refund is in the wallet',
      },
    ],
  },
  {
    id: 'state.refund.failed',
    removed: 'A failed refund is shown as expected.',
    file: 'domain/cancellation/refund.ts',
    find: "if (state === 'failed') return 'failed';",
    replace: '',
    failed: [{ file: 'test/property/domain/refund.test.ts', title: '%j is shown as %s' }],
  },
  {
    id: 'state.refund.failed',
    removed: 'The cancellation does not notice that its refund failed.',
    file: 'activities/purchases/cancellation-completion.ts',
    find: "const isFailed = refund?.serviceState === 'failed';",
    replace: 'const isFailed = false;',
    failed: [
      {
        file: 'test/integration/purchases/cancellation.test.ts',
        title: 'that fails needs attention until it is written off',
      },
    ],
  },
  {
    id: 'state.review.accepted',
    removed: 'An accepted refund leaves the cancellation open.',
    file: 'domain/cancellation/refund.ts',
    find: "|| refund.review === 'accepted' ||",
    replace: '||',
    failed: [{ file: 'test/property/domain/refund.test.ts', title: '%j means %s for the attempt' }],
  },
  {
    id: 'state.review.refused',
    removed: 'A refused refund leaves the cancellation open.',
    file: 'domain/cancellation/refund.ts',
    find: "refund.review === 'refused' ? 'failed' : 'processing'",
    replace: "'processing'",
    failed: [{ file: 'test/property/domain/refund.test.ts', title: '%j means %s for the attempt' }],
  },
  {
    id: 'state.review.manual_review',
    removed: 'A manual review is not shown.',
    file: 'domain/cancellation/refund.ts',
    find: "review === 'manual_review' ? 'manual_review' : 'expected'",
    replace: "'expected'",
    failed: [{ file: 'test/property/domain/refund.test.ts', title: '%j is shown as %s' }],
  },
];
