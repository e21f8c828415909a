/** Removals for the statements about the records of the service. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const RECORDS: readonly Removal[] = [
  {
    id: 'record.package.id',
    removed: 'The price of the first package is used for every package.',
    file: 'activities/purchases/order.ts',
    find: 'offered = packages.value.items.find(({ id }) => id === packageId)',
    replace: 'offered = packages.value.items[0]',
    failed: [{ file: 'test/integration/orders/order.test.ts', title: 'waits for a price below its max_price' }],
  },
  {
    id: 'record.package.price_for_reseller',
    removed: 'A missing price is read as 0.00.',
    file: 'upstream/contract/resources.ts',
    find: 'price_for_reseller: wirePrice,',
    replace: "price_for_reseller: wirePrice.default('0.00'),",
    failed: [
      { file: 'test/unit/upstream/client/client-service.test.ts', title: '(%j) is never listed as free of charge' },
    ],
  },
  {
    id: 'record.package.price_for_reseller',
    removed: 'Every package counts as free before it is ordered.',
    file: 'activities/purchases/order.ts',
    find: 'amount: offered.price_for_reseller',
    replace: "amount: '0.00'",
    failed: [{ file: 'test/integration/orders/order.test.ts', title: 'waits for a price below its max_price' }],
  },
  {
    id: 'record.vpn-plan.id',
    removed: 'The first plan is used for every plan.',
    file: 'activities/purchases/vpn-subscription.ts',
    find: 'find((each) => each.id === vpnPlanId)',
    replace: 'find(() => true)',
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'is held without a margin, and while the plan is not sold',
      },
    ],
  },
  {
    id: 'record.vpn-plan.price_for_reseller',
    removed: 'A missing price is read as 0.00.',
    file: 'upstream/contract/lifecycle-resources.ts',
    find: 'price_for_reseller: wirePrice,',
    replace: "price_for_reseller: wirePrice.default('0.00'),",
    failed: [{ file: 'test/unit/upstream/client/client-vpn.test.ts', title: 'without %s are contract drift' }],
  },
  {
    id: 'record.vpn-subscription.id',
    removed: 'The path of the cancellation has none.',
    file: 'upstream/contract/vpn-endpoints.ts',
    find: "'/vpn/subscriptions/{id}/cancel'",
    replace: "'/vpn/subscriptions/cancel'",
    failed: [{ file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its method, path and query' }],
  },
  {
    id: 'record.esim.id',
    removed: 'The path of the cancellation has none.',
    file: 'upstream/contract/esim-endpoints.ts',
    find: "'/esims/{id}/cancel'",
    replace: "'/esims/cancel'",
    failed: [{ file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its method, path and query' }],
  },
  {
    id: 'record.esim.usage',
    removed: 'Missing usage is read as zero.',
    file: 'upstream/contract/resources.ts',
    find: 'data_used_mb: z.number().nonnegative(),',
    replace: 'data_used_mb: z.number().nonnegative().default(0),',
    failed: [
      {
        file: 'test/unit/upstream/client/client-esims.test.ts',
        title: 'has no usage unless the answer clearly states it for this eSIM: %j',
      },
    ],
  },
  {
    id: 'record.esim.installation',
    removed: 'Every eSIM counts as not installed.',
    file: 'upstream/mapping/refund-evidence.ts',
    find: 'value: { installedAt,',
    replace: 'value: { installedAt: undefined,',
    failed: [
      { file: 'test/integration/purchases/cancellation-preflight.test.ts', title: 'names the failed condition' },
    ],
  },
  {
    id: 'record.esim.activation',
    removed: 'Every eSIM counts as not activated.',
    file: 'upstream/mapping/refund-evidence.ts',
    find: 'activatedAt: timeOf(activated)',
    replace: 'activatedAt: undefined',
    failed: [
      { file: 'test/integration/purchases/cancellation-preflight.test.ts', title: 'names the failed condition' },
    ],
  },
  {
    id: 'record.esim.topup-options',
    removed: 'The options are the price list.',
    file: 'upstream/client/esims.ts',
    find: "calls.list('listTopupOptions', { id })",
    replace: "calls.list('listPackages')",
    failed: [{ file: 'test/unit/upstream/client/client-esims.test.ts', title: 'are read in full' }],
  },
  {
    id: 'record.wallet',
    removed: 'The wallet counts as empty.',
    file: 'upstream/contract/resources.ts',
    find: 'balance: wireDecimal',
    replace: "balance: wireDecimal.transform(() => '0')",
    failed: [{ file: 'test/unit/upstream/client/client-service.test.ts', title: 'is read with its exact balance' }],
  },
  {
    id: 'record.refund',
    removed: 'The amount of a refund is not read.',
    file: 'upstream/contract/lifecycle-resources.ts',
    find: 'amount: wireDecimal.nullish()',
    replace: 'amount: wireDecimal.nullish().transform(() => null)',
    failed: [{ file: 'test/unit/upstream/client/client-esims.test.ts', title: 'is read as %s, with its exact' }],
  },
  {
    id: 'record.charged-price',
    removed: 'The charge is not read from the answer of the service.',
    file: 'activities/purchases/purchase-report.ts',
    find: 'charged: chargeOf(record)',
    replace: 'charged: undefined',
    failed: [
      {
        file: 'test/integration/orders/order.test.ts',
        title: 'is delivered as an installable eSIM, with one send and one debit',
      },
    ],
  },
  {
    id: 'record.own-margin',
    removed: 'The books record the price of the customer as the charge.',
    file: 'activities/purchases/vpn-subscription.ts',
    find: 'const charged = chargedOf(attempt);',
    replace:
      'const paid = (await database.run((db) => readVpnSubscription(db, id))).customerPrice;\n      const ' +
      "charged = { amount: paid, currency: 'USD' };",
    failed: [
      {
        file: 'test/integration/purchases/vpn-subscription.test.ts',
        title: 'costs one debit, and protects its access data',
      },
    ],
  },
];
