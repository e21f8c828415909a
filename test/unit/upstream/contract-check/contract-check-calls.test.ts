import { describe, expect, it } from 'vitest';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { breaking, check } from '#test/support/contract-findings.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';

describe('a call', () => {
  const moved = (from: string, to: string) => {
    const { paths, ...document } = contractOpenApi();
    return {
      ...document,
      paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path === from ? to : path, item])),
    };
  };

  it('at another path is missing, and the other path is suggested', () => {
    const report = check(moved('/esims/{id}/topup-options', '/esims/{id}/recharge-options'));
    expect(report.calls.find(({ name }) => name === 'listTopupOptions')).toMatchObject({
      status: 'missing',
      findings: [breaking('call', undefined, 'is not in the document', '/esims/{id}/recharge-options')],
    });
    expect(report).toMatchObject({ compatible: false, switchOff: [] });
  });

  it.each([
    '/orders/',
    '/api/reseller/v1/orders',
    'https://service.example/api/reseller/v1/orders',
    '{base_url}/orders',
    '/{sandbox_url}/orders',
    '/sandbox/orders',
    '/api/reseller/v1/sandbox/orders',
  ])('is found as %s', (path) => {
    const report = check(moved('/orders', path));
    expect(report.compatible).toBe(true);
    expect(report.calls.find(({ name }) => name === 'createOrder')).toMatchObject({ status: 'matches', foundAs: path });
  });

  it('with a switched-off capability is not compared', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/topups/{id}');
    expect(check(document)).toMatchObject({ compatible: false, switchOff: ['topup_read'] });
    const report = check(document, { topup_read: false });
    expect(report).toMatchObject({ compatible: true, switchOff: [] });
    expect(report.calls.find(({ name }) => name === 'getTopup')).toMatchObject({
      status: 'switched_off',
      findings: [],
    });
  });
});

describe('capabilities', () => {
  it('are suggested to switch off only if the document is compatible without them', () => {
    const draft = new Draft();
    draft.removeParameter('listOrders', 'external_order_id');
    expect(check(draft.document)).toMatchObject({ compatible: false, switchOff: ['order_list'] });
    // Then no remaining read of a subscription has its access data, and neither has the answer to the order.
    const access = new Draft();
    const bodies = ['getVpnSubscription answer', 'listVpnSubscriptions answer', 'createVpnOrder answer'] as const;
    access.remove(bodies, 'access');
    expect(check(access.document)).toMatchObject({ compatible: false, switchOff: [] });
  });

  it('that are switched off require the needed fields in the answer to the purchase', () => {
    const off = { vpn_subscription_read: false, vpn_subscription_list: false };
    const draft = new Draft();
    const reads = ['getVpnSubscription answer', 'listVpnSubscriptions answer', 'cancelVpnSubscription answer'] as const;
    draft.remove(reads, 'access');
    expect(check(draft.document, off).compatible).toBe(true);
    draft.remove(['createVpnOrder answer'], 'access');
    const { calls } = check(draft.document, off);
    const text =
      'is missing in every read, which an event cannot replace, and is needed for giving the customer access';
    const bought = calls.find(({ name }) => name === 'createVpnOrder');
    expect(bought?.findings).toContainEqual(breaking('answer', 'access', text));
  });
});
