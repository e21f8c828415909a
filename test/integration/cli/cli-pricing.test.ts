import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endRule, setRule, type SetOptions } from '#cli/operator/pricing.ts';
import { PRICING } from '#cli/resources/catalogue.ts';
import type { CallDefinition } from '#cli/resources/definition.ts';
import type { Environment } from '#config/environment.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { outputOf } from '#test/support/cli-output.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';

let api: TestApi;
let access: { api: string; environment: Environment };
const lines: string[] = [];

beforeAll(async () => {
  api = await startTestApi();
  const { key, prefix, hash } = generateApiKey();
  await api.database.run((db) =>
    addApiKey(db, { name: 'desk', prefix, hash, scopes: ['pricing:read', 'pricing:write'] }),
  );
  access = { api: api.baseUrl, environment: { RESELLER_API_KEY: key } };
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const output = { write: (text: unknown) => lines.push(String(text)) > 0 };
const set = (options: SetOptions) => setRule(options, access.environment, output);
const said = () => lines.splice(0).join('');
const printed = async (definition: CallDefinition | undefined, typed: { ids?: string[] } = {}) =>
  (await outputOf(definition, { ...access, ...typed })).output;

describe('reseller pricing', () => {
  it('creates a rule, changes it, lists both versions with their reasons, and ends it', async () => {
    const at = { api: api.baseUrl, data: '.data' };
    expect(await printed(PRICING.commands['list'])).toBe('Nothing was found.\n');

    await set({
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
    await set({
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
    await set({ ...at, default: true, currency: 'EUR', margin: '20%', maxPriceDrift: '0', reason: 'All else.' });
    said();

    const rules = await printed(PRICING.commands['list']);
    expect(rules).toMatch(/^ID +TARGET +TARGET ID +CURRENCY +MARGIN/);
    expect(rules).toMatch(new RegExp(`^${id} +country +DE +EUR +0% \\+ 0 +0% \\+ 1\\.00`, 'm'));
    expect(rules).toMatch(/^rule_\w+ +default +EUR +20% \+ 0/m);
    expect(await printed(PRICING.commands['versions'], { ids: [id] })).toMatch(
      /\n2 +changed +\S+ \S+ +key_\w+ +Summer\..*\n1 +created +\S+ \S+ +key_\w+ +Spring\./,
    );
    await endRule(id, { ...at, reason: 'Over.' }, access.environment, output);
    expect(said()).toContain(`${id}  ended at`);
  });

  it('reports missing and invalid options before it calls the API', async () => {
    const at = { api: api.baseUrl, data: '.data', currency: 'EUR', maxPriceDrift: '0', reason: 'x' };
    await expect(set(at)).rejects.toThrow('has no target');
    await expect(set({ ...at, default: true, margin: 'a lot' })).rejects.toThrow('is not a margin');
    await expect(set({ ...at, default: true, ending: '0.99' })).rejects.toThrow('need --step');
    await expect(set({ ...at, package: 'x1' })).rejects.toThrow('is not an id');
  });
});
