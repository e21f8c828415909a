import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger } from '#telemetry/logger.ts';
import { createRedactor, isSecretName } from '#telemetry/redaction.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const CANARY = 'canary7f3a';
const secretName = fc.constantFrom(
  'authorization',
  'password',
  'token',
  'access_token',
  'cookie',
  'activationCode',
  'matchingId',
  'device_imei',
  'imei',
  'lpa',
  'customer_reference',
  'signature',
  'secret',
  'webhookSecrets',
  'idempotencyKey',
  'api_key',
  'encryptedBody',
  'rawBody',
  'params',
  'body',
);
/** Names that are found in texts, too. */
const nameInText = fc.constantFrom(
  'password',
  'access_token',
  'activationCode',
  'matching_id',
  'device_imei',
  'customer_reference',
  'signature',
  'webhookSecret',
);
const harmlessName = fc.string({ maxLength: 12 }).filter((name) => !isSecretName(name) && name !== '__proto__');

/** A value of any shape with the canary below a secret name. */
const withSecret = fc.letrec<{ node: unknown; secret: unknown }>((tie) => ({
  secret: fc.oneof(
    fc.constant(CANARY),
    fc.constant([CANARY]),
    fc.constant({ value: { again: CANARY } }),
    fc.constant(new Map([['inner', CANARY]])),
    fc.constant(new Error(CANARY)),
    fc.constant(Buffer.from(CANARY)),
  ),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(secretName, tie('secret')).map(([name, value]) => ({ [name]: value })),
    fc.tuple(secretName, tie('secret')).map(([name, value]) => new Map([[name, value]])),
    fc.tuple(harmlessName, tie('node')).map(([name, value]) => ({ [name]: value })),
    tie('node').map((value) => ['before', value]),
    tie('node').map((value) => new Set([value])),
    tie('node').map((value) => new Error('outer', { cause: value })),
    tie('node').map((value) => ({ toJSON: () => value })),
  ),
})).node;

describe('redaction', () => {
  it('removes every secret field, at any depth and in any container', () => {
    assertForMany(500, withSecret, (value) => {
      const lines: string[] = [];
      const logger = createLogger({ level: 'info', name: 'test' }, { write: (line) => void lines.push(line) });
      logger.info({ value }, 'fields');
      logger.info(value as object, 'whatever it is');
      logger.child({ value }).info('bindings');
      logger.info('placeholders %o %j %s', value as object, value as object, value as string);
      expect(lines).toHaveLength(4);
      expect(lines.join('')).not.toContain(CANARY);
    });
  });

  it('finds secret fields in JSON texts: complete, truncated, or inside other JSON texts', () => {
    const redactor = createRedactor();
    const around = fc.string({ unit: fc.constantFrom('"', "'", '\\', ' ', ',', '}', 'a', '\n', ':', 'é') });
    assertForMany(1_000, nameInText, around, around, (name, before, after) => {
      const json = JSON.stringify({ id: 1, [name]: `${before}${CANARY}${after}`, last: true });
      expect(redactor.text(json)).not.toContain(CANARY);
      expect(redactor.text(JSON.stringify(json))).not.toContain(CANARY);
      expect(redactor.text(`sent ${json.slice(0, -12)}`)).not.toContain(CANARY);
      expect(redactor.text(json)).toContain('"id":1');
    });
  });

  it('never throws and always writes a JSON line, for any value', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
      withBoxedValues: true,
      withObjectString: true,
    });
    assertForMany(500, anything, (value) => {
      const lines: string[] = [];
      const logger = createLogger({ level: 'info', name: 'test' }, { write: (line) => void lines.push(line) });
      logger.info(value as object, 'anything');
      logger.info({ value }, 'fields');
      logger.info('placeholders %o %j %s %d', value as object, value as object, value as string, value as number);
      for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
      expect(lines).toHaveLength(3);
    });
  });

  it('handles cycles, throwing getters and deep nesting', () => {
    const circle: Record<string, unknown> = { name: 'circle' };
    circle['self'] = circle;
    const trap = {
      get field() {
        throw new Error('trap');
      },
    };
    const deep = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ inner }), {});
    const redactor = createRedactor();
    expect(redactor.value(circle)).toEqual({ name: 'circle', self: '[circular]' });
    expect(redactor.value(trap)).toBe('[unreadable]');
    expect(JSON.stringify(redactor.value(deep))).toContain('[deeper]');
  });

  it('is stable: a second redaction changes nothing', () => {
    const redactor = createRedactor();
    assertForAll(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const once = redactor.text(text);
      expect(redactor.text(once)).toBe(once);
    });
  });

  it('takes time in proportion to the length of hostile texts', () => {
    const redactor = createRedactor();
    const quoted = ['"token":"', '\\"token\\":\\"', '"\\"'];
    const plain = ['a://', 'eyJeyJ.', 'token=', '1$a$', 'Bearer ', 'v1=ab', '9', 'Failed query: \nparams'];
    for (const piece of [...quoted, ...plain]) expect(redactor.text(piece.repeat(20_000)).length).toBeLessThan(9_000);
  });
});
