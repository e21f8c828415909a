import { DrizzleQueryError } from 'drizzle-orm/errors';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createLogger, type Logger } from '#telemetry/logger.ts';
import { createSdkLogger } from '#temporal/sdk-runtime.ts';

/** A logger and its output. */
function recording(level = 'trace', secrets: readonly string[] = []) {
  const lines: string[] = [];
  const logger = createLogger({ level, name: 'test', secrets }, { write: (line) => void lines.push(line) });
  return {
    logger,
    lines,
    text: () => lines.join(''),
    last: () => z.record(z.string(), z.unknown()).parse(JSON.parse(lines.at(-1) ?? '')),
  };
}

function written(log: (logger: Logger) => void): string {
  const { logger, text } = recording();
  log(logger);
  return text();
}

function errorOf(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

describe('the logger', () => {
  it('writes one JSON line per entry with time, level, name and sentence', () => {
    const { logger, lines, last } = recording();
    logger.info({ orderId: 'ord_01J' }, 'order %s', 'accepted');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    expect(last()).toMatchObject({ level: 'info', name: 'test', orderId: 'ord_01J', msg: 'order accepted' });
    expect(Date.parse(String(last()['time']))).not.toBeNaN();
  });

  it.each([
    ['a bearer token', 'Authorization: Bearer abc.def-123456', 'abc.def'],
    ['one of our keys', 'key rsk_test_AbCd1234_0123456789012345678901234567890123456789012 used', '0123456789'],
    ['a webhook secret', 'signed with whsec_c2VjcmV0', 'c2VjcmV0'],
    ['a webhook signature', `got v1=${'ab'.repeat(32)}`, 'abab'],
    ['an activation code', 'LPA:1$smdp.example.com$K2-ABC-XYZ given', 'K2-ABC'],
    ['an activation code without its prefix', 'got 1$smdp.example.com$K2-ABC-XYZ', 'K2-ABC'],
    ['a password in a URL', 'cannot reach postgres://app:hunter22@db:5432/x', 'hunter22'],
    ['an IMEI', 'device 356938035643809 refused', '356938035643809'],
    ['a query string', 'GET /x?token=hunter22&limit=1', 'hunter22'],
    ['a JSON Web Token', 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'c2lnbmF0dXJl'],
  ])('takes %s out of sentences, fields, placeholders and errors', (_, sentence, canary) => {
    expect(sentence).toContain(canary);
    expect(written((log) => log.info(sentence))).not.toContain(canary);
    expect(written((log) => log.info({ note: sentence }, 'fields'))).not.toContain(canary);
    expect(written((log) => log.info('with %s', sentence))).not.toContain(canary);
    expect(written((log) => log.error(new Error(sentence)))).not.toContain(canary);
    const nested = new Error('outer', { cause: new Error(sentence) });
    expect(written((log) => log.error({ err: nested }, 'failed'))).not.toContain(canary);
  });

  it('keeps data that operators need: our ids, epoch times, ICCIDs, amounts and plain sentences', () => {
    const { logger, last } = recording();
    const fields = {
      orderId: 'ord_01JD8X7Q2M3N4P5R6S7T8V9WXY',
      at: 1_700_000_000_000,
      note: '1700000000000 and 8944110068000000004 cost 12.50 EUR',
      status: 503,
    };
    logger.info(fields, 'invalid token: renewed, signature mismatch');
    expect(last()).toMatchObject({ ...fields, msg: 'invalid token: renewed, signature mismatch' });
  });

  it('never shows a known secret, in any shape and place', () => {
    const { logger, text } = recording('trace', ['Correct Horse']);
    logger.warn({ list: ['say Correct Horse'], 'key Correct Horse': 1 }, 'Correct Horse %s', 'Correct Horse');
    logger.error(new Error('wrong: Correct Horse'));
    expect(text()).not.toContain('Correct');
  });
});

describe('errors in the log', () => {
  it('keep name, message, code, frames and the whole chain of causes', () => {
    const { logger, last } = recording();
    const root = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED', port: 5432 });
    logger.error(new TypeError('outer', { cause: new Error('middle', { cause: root }) }));
    expect(last()).toMatchObject({
      msg: 'outer',
      err: {
        name: 'TypeError',
        message: 'outer',
        stack: expect.stringContaining('    at ') as string,
        cause: { message: 'middle', cause: { message: 'connect refused', code: 'ECONNREFUSED', port: 5432 } },
      },
    });
  });

  it('keep the query of a failed statement and drop its parameters, in message and stack', () => {
    const { logger, text, last } = recording();
    const cause = new pg.DatabaseError('duplicate key value violates unique constraint "orders_pk"', 1, 'error');
    const detail = 'Key (imei)=(canary-detail) already exists.';
    Object.assign(cause, { code: '23505', constraint: 'orders_pk', detail });
    const query = 'insert into orders values ($1, $2)';
    const error = new DrizzleQueryError(query, ['canary-one', 'line\n    at canary-two'], cause);
    logger.error({ err: error }, 'write failed');
    logger.error(error);
    logger.error(new Error(`commit failed: ${error.message}`));
    expect(text()).not.toContain('canary');
    expect(last()['err']).toMatchObject({ message: expect.stringContaining(query) as string });
    expect(text()).toContain('"constraint":"orders_pk"');
    expect(text()).toContain('"code":"23505"');
  });

  it('drop the value that PostgreSQL could not read', () => {
    const error = new pg.DatabaseError('invalid input syntax for type integer: "canary"', 1, 'error');
    Object.assign(error, { code: '22P02', severity: 'ERROR' });
    expect(written((log) => log.error(error))).not.toContain('canary');
  });

  it('drop the text that JSON.parse could not read', () => {
    const error = errorOf(() => JSON.parse('canary') as unknown);
    expect(String(error)).toContain('canary');
    expect(written((log) => log.error(error))).not.toContain('canary');
  });

  it('drop every field that is not listed as harmless: requests, bodies, configurations', () => {
    const fields = { request: { data: 'canary' }, response: 'canary', config: { url: 'canary' }, statusCode: 502 };
    const error = Object.assign(new Error('call failed'), fields);
    const text = written((log) => log.error({ err: error }, 'failed'));
    expect(text).not.toContain('canary');
    expect(text).toContain('"statusCode":502');
  });
});

describe('log entries of the Temporal SDK', () => {
  it('are redacted, and keep their level, fields and error', () => {
    const { logger, lines } = recording('debug');
    const sdk = createSdkLogger(logger);
    sdk.trace('below our level');
    sdk.debug('polling');
    sdk.info('started', { taskQueue: 'reseller' });
    sdk.warn('activity failed', { error: new Error('LPA:1$smdp.example.com$CANARY'), imei: 'CANARY' });
    sdk.error('stopped');
    const entries = lines.map((line) => z.looseObject({ level: z.string(), msg: z.string() }).parse(JSON.parse(line)));
    expect(entries.map(({ level }) => level)).toEqual(['debug', 'info', 'warn', 'error']);
    expect(entries[1]).toMatchObject({ msg: 'started', taskQueue: 'reseller' });
    expect(entries[2]).toMatchObject({ imei: '[redacted]', err: { message: 'LPA:[redacted]' } });
    expect(lines.join('')).not.toContain('CANARY');
  });
});
