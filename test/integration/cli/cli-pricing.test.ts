import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PricingCommands } from '#cli/money/pricing.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';

let api: TestApi;
let desk: PricingCommands;
const printed: string[] = [];

beforeAll(async () => {
  api = await startTestApi();
  const { key, prefix, hash } = generateApiKey();
  await api.database.run((db) =>
    addApiKey(db, { name: 'desk', prefix, hash, scopes: ['pricing:read', 'pricing:write'] }),
  );
  desk = new PricingCommands({ RESELLER_API_KEY: key }, { write: (text: string) => printed.push(text) > 0 });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const said = () => printed.splice(0).join('');

describe('reseller pricing', () => {
  it('creates a rule, changes it, lists both versions with their reasons, and ends it', async () => {
    const at = { api: api.baseUrl, data: '.data' };
    await desk.list(at);
    expect(said()).toContain('no pricing rule');

    await desk.set({
      ...at,
      country: 'DE',
      currency: 'EUR',
      margin: '35%+0.50',
      step: '1',
      ending: '0.99',
      maxPriceDrift: '2',
      reason: 'Spring.',
    });
    const id =
      /^Created: (rule_\w+) {2}country DE in EUR, version 1: margin 35% \+ 0\.50, /.exec(said())?.[1] ?? 'none';
    await desk.set({
      ...at,
      country: 'DE',
      currency: 'EUR',
      minimumMargin: '1.00',
      maxPriceDrift: '0',
      reason: 'Summer.',
    });
    expect(said()).toMatch(
      new RegExp(`^Changed: ${id} {2}country DE in EUR, version 2: margin 0% \\+ 0, at least 0% \\+ 1\\.00, drift 0 %`),
    );
    await desk.set({ ...at, default: true, currency: 'EUR', margin: '20%', maxPriceDrift: '0', reason: 'All else.' });
    said();

    await desk.list(at);
    expect(
      said()
        .split('\n')
        .map((line) => line.split('  ')[1]?.split(' ')[0]),
    ).toEqual(['country', 'default', undefined]);
    await desk.versions(id, at);
    expect(said()).toMatch(/^2 {2}changed at \S+ by key_\w+: Summer\.\n.*\n1 {2}created at \S+ by key_\w+: Spring\.\n/);
    await desk.end(id, { ...at, reason: 'Over.' });
    expect(said()).toContain(`${id}  ended at`);
  });

  it('reports missing and invalid options before it calls the API', async () => {
    const at = { api: api.baseUrl, data: '.data', currency: 'EUR', maxPriceDrift: '0', reason: 'x' };
    await expect(desk.set(at)).rejects.toThrow('has no target');
    await expect(desk.set({ ...at, default: true, margin: 'a lot' })).rejects.toThrow('is not a margin');
    await expect(desk.set({ ...at, default: true, ending: '0.99' })).rejects.toThrow('need --step');
    await expect(desk.set({ ...at, package: 'x1' })).rejects.toThrow('is not an id');
  });
});
