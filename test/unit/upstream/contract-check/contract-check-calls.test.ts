import { describe, expect, it } from 'vitest';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { breaking, callOf, check } from '#test/support/contract-findings.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';

describe('a call', () => {
  const moved = (from: string, to: string) => {
    const { paths, ...document } = contractOpenApi();
    const others = Object.entries(paths).map(([path, item]) => [path === from ? to : path, item] as const);
    return { ...document, paths: Object.fromEntries(others) };
  };

  it('at another path is missing, and the other path is suggested', () => {
    const report = check(moved('/esims/{id}/topup-options', '/esims/{id}/recharge-options'));
    const findings = [breaking('call', undefined, 'is not in the document', '/esims/{id}/recharge-options')];
    expect(callOf(report, 'listTopupOptions')).toMatchObject({ status: 'missing', findings });
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
    expect(callOf(report, 'createOrder')).toMatchObject({ status: 'matches', foundAs: path });
  });

  it('with a switched-off capability is not compared', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/topups/{id}');
    expect(check(document)).toMatchObject({ compatible: false, switchOff: ['topup_read'] });
    const report = check(document, { topup_read: false });
    expect(report).toMatchObject({ compatible: true, switchOff: [] });
    expect(callOf(report, 'getTopup')).toMatchObject({ status: 'switched_off', findings: [] });
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
    const text =
      'is missing in every read, which an event cannot replace, and is needed for giving the customer access';
    const bought = callOf(check(draft.document, off), 'createVpnOrder');
    expect(bought?.findings).toContainEqual(breaking('answer', 'access', text));
  });
});
