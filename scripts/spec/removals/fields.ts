/** Removals for the statements about the fields of requests. */
import type { Removal } from '#scripts/spec/removals/removal.ts';

export const FIELDS: readonly Removal[] = [
  {
    id: 'field.order.package_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'package_id: order.packageId',
    replace: 'package: order.packageId',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the specified order, for any order of the input',
      },
    ],
  },
  {
    id: 'field.order.external_order_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'external_order_id: order.reference',
    replace: 'reference: order.reference',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the specified order, for any order of the input',
      },
    ],
  },
  {
    id: 'field.order.device_imei',
    removed: 'It is left out.',
    file: 'upstream/client/request-bytes.ts',
    find: '{ device_imei: order.deviceImei }',
    replace: '{}',
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its exact body' },
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the specified order, for any order of the input',
      },
    ],
  },
  {
    id: 'field.vpn-order.vpn_plan_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'vpn_plan_id: order.vpnPlanId',
    replace: 'plan_id: order.vpnPlanId',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.vpn-order.external_subscription_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'external_subscription_id: order.reference',
    replace: 'reference: order.reference',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.vpn-order.customer_reference',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'customer_reference: order.customerReference',
    replace: 'customer: order.customerReference',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.vpn-order.customer_price',
    removed: 'Its digits go through a float.',
    file: 'upstream/client/request-bytes.ts',
    find: '"customer_price":${customerPrice}',
    replace: '"customer_price":${Number(customerPrice)}',
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its exact body' },
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.topup.esim_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'esim_id: topup.esimId',
    replace: 'esim: topup.esimId',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.topup.package_id',
    removed: 'The field has another name.',
    file: 'upstream/client/request-bytes.ts',
    find: 'package_id: topup.packageId',
    replace: 'package: topup.packageId',
    failed: [
      {
        file: 'test/unit/upstream/request-bytes.test.ts',
        title: 'has the fields in the order of the specification',
      },
    ],
  },
  {
    id: 'field.updates.current_version',
    removed: 'It is left out.',
    file: 'upstream/client/service.ts',
    find: 'query: query.data',
    replace: 'query: { channel }',
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its method, path and query' },
      { file: 'test/unit/upstream/client/client-service.test.ts', title: 'sends version, channel and usual token' },
    ],
  },
  {
    id: 'field.updates.channel',
    removed: 'It is left out.',
    file: 'upstream/client/service.ts',
    find: 'query: query.data',
    replace: 'query: { current_version: currentVersion }',
    failed: [
      { file: 'test/unit/upstream/client/client-requests.test.ts', title: '%s has its method, path and query' },
      { file: 'test/unit/upstream/client/client-service.test.ts', title: 'sends version, channel and usual token' },
    ],
  },
];
