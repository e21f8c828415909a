import { describe, expect, it } from 'vitest';
import { suggestedNames, suggestedPaths } from '#api/problems/suggestions.ts';

describe('a suggested name', () => {
  it.each([
    ['packageId', ['package_id', 'max_price'], ['package_id']],
    ['external_id', ['external_order_id', 'esim_id'], ['external_order_id']],
    ['curency', ['amount', 'currency'], ['currency']],
    ['statuses', ['status', 'state'], ['status']],
    ['country_code', ['country', 'currency'], ['country']],
    ['created', ['created_after', 'created_before', 'updated_after'], ['created_after', 'created_before']],
    ['created', ['created_by', 'created_after', 'created_before', 'created_on'], []],
    ['page', ['cursor', 'limit'], ['cursor']],
    ['page', ['limit'], []],
    ['max_data_mb', ['min_data_mb', 'max_price'], []],
    ['created_from', ['created_to'], []],
    ['updated_before', ['updated_after', 'created_after'], []],
    ['order', ['external_order_id', 'created_after'], []],
    ['id', ['package_id', 'esim_id'], []],
    ['colour', ['currency', 'country'], []],
    ['', ['a'], []],
  ])('for %j among %j is %j', (name, known, expected) => {
    expect(suggestedNames(name, known)).toEqual(expected);
  });
});

describe('a suggested path', () => {
  const KNOWN = ['/v1/orders', '/v1/orders/{id}', '/v1/esims/{id}/qr.png', '/v1/esims/{id}/qr.svg', '/v1/vpn/plans'];

  it.each([
    ['/v1/order', ['/v1/orders']],
    ['/orders/', ['/v1/orders']],
    ['/api/v2/orders/{id}', ['/v1/orders/{id}']],
    ['/v1/esims/{id}/qr', ['/v1/esims/{id}/qr.png', '/v1/esims/{id}/qr.svg']],
    ['/v1/plans', ['/v1/vpn/plans']],
    ['/v1/orders/{id}/refund', []],
    ['/v1/esims/{id}', []],
    ['/v1/xyzzy', []],
    ['/', []],
  ])('for %j is %j', (path, expected) => {
    expect(suggestedPaths(path, KNOWN)).toEqual(expected);
  });
});
