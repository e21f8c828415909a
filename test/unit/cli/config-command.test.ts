import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkConfiguration, showConfiguration } from '#cli/set-up/config.ts';
import { ConfigurationError } from '#config/configuration-error.ts';
import { SETTING_NAMES } from '#config/policy/policy-file.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';
import { captured } from '#test/support/cli-output.ts';
import { PRODUCT_ENVIRONMENT } from '#test/support/product-environment.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('config-command');

function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function printed(run: (output: ReturnType<typeof captured>) => unknown) {
  const output = captured();
  const result = run(output);
  return { text: output.text(), result };
}

describe('reseller config check', () => {
  it('accepts a configuration that every process can use', () => {
    expect(printed((output) => checkConfiguration(undefined, {}, PRODUCT_ENVIRONMENT, output))).toEqual({
      text: 'The configuration of API, worker, codec server and proxy of the UI is usable.\n',
      result: 0,
    });
  });

  it('checks a policy file alone, with the relations of its values', () => {
    const right = fileWith('right.yaml', 'retry: {max_attempts: 2}');
    expect(printed((output) => checkConfiguration(right, {}, {}, output))).toEqual({
      text: `${right} is usable.\n`,
      result: 0,
    });
    const wrong = fileWith('wrong.yaml', 'events:\n  kept: 2d');
    expect(() => checkConfiguration(wrong, {}, {})).toThrow(ConfigurationError);
    const { text, result } = printed((output) => checkConfiguration(wrong, { json: true }, {}, output));
    expect(result).toBe(78);
    expect(JSON.parse(text)).toEqual({
      usable: false,
      problems: [{ name: 'events.kept', message: expect.stringMatching(/retry_for/), file: wrong, line: 2, column: 9 }],
    });
  });

  it('prints the problems of all processes as JSON', () => {
    const environment = { ...PRODUCT_ENVIRONMENT, SERVICE_PASSWORD: '', CODEC_PORT: 'x', WORKER_PROBE_PORT: 'x' };
    const { text } = printed((output) => checkConfiguration(undefined, { json: true }, environment, output));
    const { problems } = JSON.parse(text) as { problems: readonly { name: string }[] };
    const names = problems.map(({ name }) => name).toSorted();
    expect(names).toEqual(['CODEC_PORT', 'SERVICE_PASSWORD', 'WORKER_PROBE_PORT']);
  });
});

describe('reseller config show', () => {
  const policy = fileWith('policy.yaml', 'gate:\n  spend_limit: 5.00 EUR\nwatch: {data_low: [10%]}\n');
  const token = fileWith('token', 'a-secret-token-of-the-codec\n');
  const environment = { ...PRODUCT_ENVIRONMENT, POLICY_FILE: policy, CODEC_TOKEN_FILE: token, API_PORT: '8080' };
  const shown = () => {
    const { text } = printed((output) => showConfiguration({ json: true }, environment, [], output));
    return new Map((JSON.parse(text) as { name: string }[]).map(({ name, ...rest }) => [name, rest]));
  };

  it('has every variable and every setting', () => {
    const variables = [...VARIABLE_NAMES].filter((name) => !(name.endsWith('_FILE') && name !== 'POLICY_FILE'));
    expect([...shown().keys()].toSorted()).toEqual([...variables, ...SETTING_NAMES].toSorted());
  });

  it('tells the source of each value', () => {
    const values = shown();
    expect(values.get('API_PORT')).toEqual({ value: '8080', source: 'environment' });
    expect(values.get('API_HOST')).toEqual({ value: '127.0.0.1', source: 'default' });
    expect(values.get('gate.spend_limit')).toEqual({ value: '5.00 EUR', source: `${policy}:2` });
    expect(values.get('watch.data_low')).toEqual({ value: '["10%"]', source: `${policy}:3` });
    expect(values.get('retry.hold_delay')).toEqual({ value: '15s', source: 'default' });
    expect(values.get('wallet.low_balance')).toEqual({ value: null, source: 'default' });
    expect(values.get('CODEC_TOKEN')).toEqual({ value: '(secret)', source: token });
  });

  it('prints no secret, as a table and as JSON', () => {
    for (const json of [true, false]) {
      const { text } = printed((output) => showConfiguration({ json }, environment, [], output));
      expect(text).toMatch(/ENCRYPTION_KEYS/);
      for (const secret of ['geheim', 'a-secret-token', PRODUCT_ENVIRONMENT.ENCRYPTION_KEYS])
        expect(text).not.toContain(secret);
    }
  });
});
