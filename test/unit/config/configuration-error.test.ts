import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEnvironment } from '#config/environment.ts';
import { parsePolicyFile, SETTING_NAMES } from '#config/policy/policy-file.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';
import { SIMULATOR_FIELDS } from '#simulator/options.ts';
import { problemsIn } from '#test/support/product-environment.ts';

/** Beginnings of messages of zod and of the parser of YAML, and names of their functions. */
const OF_A_LIBRARY =
  /^(Invalid|Too |Unrecognized|Expected)|expected|received|\bYAML\.|\bNaN\b|stringKeys|>=|<=|undefined/;

const messagesOf = (read: () => unknown) => problemsIn(read).map(({ message }) => message);

const fields = [...Object.values(CONFIGURATION_FIELDS), SIMULATOR_FIELDS].flatMap((part): [string, z.ZodType][] =>
  Object.entries(part),
);
const WRONG_TEXTS = ['x', '-1', '0', '0.5', '99999999999', 'a b', 'y'.repeat(10_000), '\u0000'];
const WRONG_VALUES = ['x', '-1', '0.5', '1e99', 'true', '[]', '[1]', '{}', '{a: 1}', 'null', "''", '99999d'];

const inPolicy = (text: string) => messagesOf(() => parsePolicyFile(text, 'policy.yaml'));

describe('the message about a wrong value', () => {
  it.each(fields)('of %s is a sentence of ours', (name, field) => {
    const schema = z.object({ [name]: field });
    const messages = WRONG_TEXTS.flatMap((text) => messagesOf(() => parseEnvironment(schema, { [name]: text })));
    expect(messages.filter((message) => OF_A_LIBRARY.test(message))).toEqual([]);
  });

  it.each(SETTING_NAMES)('of the setting %s is a sentence of ours', (name) => {
    const [group = '', setting = ''] = name.split('.');
    const messages = WRONG_VALUES.flatMap((value) => inPolicy(`${group}:\n  ${setting}: ${value}\n`));
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.filter((message) => OF_A_LIBRARY.test(message))).toEqual([]);
  });

  it.each([
    ['SERVICE_MODE', 'test', 'must be sandbox or production'],
    ['LOG_LEVEL', 'loud', 'must be one of trace, debug, info, warn, error, fatal, silent'],
    ['CODEC_TOKEN', 'short', 'must have 16 characters or more'],
    ['SERVICE_EMAIL', 'shop', 'must be an email address'],
    ['API_PORT', '70000', 'must be a port number'],
    ['API_PORT', '1.5', 'must be a port number'],
    ['DATABASE_POOL_SIZE', '201', 'must be 200 at most'],
    ['DATABASE_POOL_SIZE', '1', 'must be 2 or more'],
    ['DATABASE_POOL_SIZE', 'many', 'must be a number'],
    ['DATABASE_POOL_SIZE', '2.5', 'must be a whole number'],
  ])('of %s=%s is: %s', (name, text, message) => {
    const field = fields.find(([each]) => each === name)![1];
    expect(messagesOf(() => parseEnvironment(z.object({ [name]: field }), { [name]: text }))).toEqual([message]);
  });

  it.each([
    ['retry: {}\n---\nretry: {}\n', ['a policy file has one document: remove the second `---` and what follows it']],
    ['retry: soon\n', ['must be a map of settings']],
    ['[]\n', ['must be a map of groups']],
  ])('of the policy file %j is a sentence of ours', (text, messages) => {
    expect(inPolicy(text)).toEqual(messages);
  });
});
