import { describe, expect, it } from 'vitest';
import { endRule, setRule, type SetOptions } from '#cli/operator/pricing.ts';
import { PRICING } from '#cli/resources/catalogue.ts';
import { captured, outputOf } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const at = { api: api.baseUrl, data: '.data' };
const environment = { RESELLER_API_KEY: keyOf(await api.caller(['pricing:read', 'pricing:write'])) };

describe('reseller pricing', () => {
  const set = async (options: SetOptions) => {
    const output = captured();
    await setRule(options, environment, output);
    return output.text();
  };
  const printed = async (command: string, ids: string[] = []) =>
    (await outputOf(PRICING.commands[command], { api: api.baseUrl, environment, ids })).output;

  it('creates a rule, changes it, lists both versions with their reasons, and ends it', async () => {
    expect(await printed('list')).toBe('Nothing was found.\n');

    const of = { ...at, country: 'DE', currency: 'EUR' };
    const rounded = { margin: '35%+0.50', step: '1', ending: '0.99', maxPriceDrift: '2' };
    const created = await set({ ...of, ...rounded, reason: 'Spring.' });
    const id =
      /^Created: (rule_\w+) {2}country DE in EUR, version 1: margin 35% \+ 0\.50, /.exec(created)?.[1] ?? 'none';
    expect(await set({ ...of, minimumMargin: '1.00', maxPriceDrift: '0', reason: 'Summer.' })).toMatch(
      new RegExp(`^Changed: ${id} {2}country DE in EUR, version 2: margin 0% \\+ 0, at least 0% \\+ 1\\.00, drift 0 %`),
    );
    await set({ ...at, default: true, currency: 'EUR', margin: '20%', maxPriceDrift: '0', reason: 'All else.' });

    const rules = await printed('list');
    expect(rules).toMatch(/^ID +TARGET +TARGET ID +CURRENCY +MARGIN/);
    expect(rules).toMatch(new RegExp(`^${id} +country +DE +EUR +0% \\+ 0 +0% \\+ 1\\.00`, 'm'));
    expect(rules).toMatch(/^rule_\w+ +default +EUR +20% \+ 0/m);
    expect(await printed('versions', [id])).toMatch(
      /\n2 +changed +\S+ \S+ +key_\w+ +Summer\..*\n1 +created +\S+ \S+ +key_\w+ +Spring\./,
    );
    const output = captured();
    await endRule(id, { ...at, reason: 'Over.' }, environment, output);
    expect(output.text()).toContain(`${id}  ended at`);
  });

  it('reports missing and invalid options before it calls the API', async () => {
    const some = { ...at, currency: 'EUR', maxPriceDrift: '0', reason: 'x' };
    await expect(set(some)).rejects.toThrow('has no target');
    await expect(set({ ...some, default: true, margin: 'a lot' })).rejects.toThrow('is not a margin');
    await expect(set({ ...some, default: true, ending: '0.99' })).rejects.toThrow('need --step');
    await expect(set({ ...some, package: 'x1' })).rejects.toThrow('is not an id');
  });
});
