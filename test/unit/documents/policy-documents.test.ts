import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parsePolicyFile, SETTING_NAMES } from '#config/policy/policy-file.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { policyDocuments } from '#scripts/policy/policy-documents.ts';
import { PROJECT } from '#test/support/compose.ts';

const content = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const example = content('policy.example.yaml');
/** The example as it is when somebody removes every `#` before a setting. */
const uncommented = example.replaceAll(/^( {2})#(?=[a-z ])(?! )/gm, '$1').replaceAll(/^( {2})#(?= {2}[a-z])/gm, '$1');
const validate = new Ajv({ allErrors: true, strict: false }).compile(
  JSON.parse(content('policy.schema.json')) as object,
);

describe('the documents of the policy file', () => {
  it.each(policyDocuments())('$path is up to date; otherwise run `npm run generate:policy`', ({ path, text }) => {
    expect(content(path)).toBe(text);
  });
});

describe('policy.example.yaml', () => {
  it('changes nothing as it is', () => {
    expect(parsePolicyFile(example, 'example').policy).toEqual(DEFAULT_POLICY);
  });

  it('has every setting with its default, and an example of those without one', () => {
    const { policy, set } = parsePolicyFile(uncommented, 'example');
    expect([...set.keys()]).toEqual(SETTING_NAMES);
    const { gate, purchase, ...others } = policy;
    const { gate: gateDefaults, purchase: purchaseDefaults, ...otherDefaults } = DEFAULT_POLICY;
    expect(others).toEqual(otherDefaults);
    const limit = { amount: '500.00', currency: 'USD' };
    expect(gate).toEqual({ ...gateDefaults, spendLimit: limit, lowBalance: limit });
    expect({ ...purchase, retryRules: undefined }).toEqual({ ...purchaseDefaults, retryRules: undefined });
    expect(Object.keys(purchase.retryRules ?? {})).toEqual(['price_above_limit', 'supplier_failed']);
  });
});

describe('policy.schema.json', () => {
  it.each([example, uncommented])('accepts the example', (text) => {
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    { retry: { hold_dealy: '1s' } },
    { retry: { hold_delay: 'soon' } },
    { retry: { max_attempts: 21 } },
    { retries: {} },
    { retry: { rules: { not_sent: { attempts: 2 } } } },
    { gate: { spend_limit: '500' } },
    { watch: { data_low: '20%' } },
  ])('refuses %j', (file) => {
    expect(validate(file)).toBe(false);
  });

  it('explains every setting', () => {
    type Group = { properties: object };
    const { properties } = JSON.parse(content('policy.schema.json')) as Record<string, Record<string, Group>>;
    const explained = Object.entries(properties ?? {}).flatMap(([group, { properties: settings }]) =>
      Object.entries(settings as Record<string, { description?: string }>)
        .filter(([, { description = '' }]) => description.length > 10)
        .map(([name]) => `${group}.${name}`),
    );
    expect(explained).toEqual(SETTING_NAMES);
  });
});
