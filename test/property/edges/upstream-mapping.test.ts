import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { retryAfterMs } from '#domain/retry/retry-after.ts';
import { isNotThereYet } from '#domain/service/fact.ts';
import { failureClasses, isDefinite } from '#domain/work/failure.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';
import { readAs } from '#test/support/judged-answers.ts';
import { judgeResult } from '#upstream/client/error-mapping.ts';
import type { HttpResult } from '#upstream/client/http.ts';
import { readJson } from '#upstream/client/json.ts';
import { ENDPOINTS, EVENT_KINDS, SERVICE_ERROR_CODES, serviceEsim } from '#upstream/contract.ts';
import { QUARANTINE_REASONS, parseEvent } from '#upstream/mapping/events.ts';
import { readAnswer } from '#upstream/reading/answer.ts';

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .record({ error: fc.record({ code: fc.oneof(fc.constantFrom(...SERVICE_ERROR_CODES), fc.string()) }) })
    .map(toBytes),
  fc.record({ id: fc.anything(), status: fc.anything(), data: fc.anything() }, { requiredKeys: [] }).map(toBytes),
);
const headerValue = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined));
const headers = fc.oneof(
  fc.record({ 'retry-after': headerValue, 'content-encoding': headerValue }),
  fc.dictionary(fc.string(), headerValue),
);
const result: fc.Arbitrary<HttpResult> = fc.oneof(
  fc.record({
    kind: fc.constant('answer' as const),
    answer: fc.record({ status: fc.oneof(fc.integer({ min: 100, max: 599 }), fc.integer()), headers, body: bytes }),
  }),
  fc.record({
    kind: fc.constant('no_answer' as const),
    failure: fc.constantFrom(...(['not_sent', 'connection_lost', 'timeout', 'unreadable_answer'] as const)),
    reason: fc.string(),
  }),
);
const schema = fc.constantFrom(...Object.values(ENDPOINTS).map(({ answer }): z.ZodType => answer));
const retryAfter = fc.oneof(
  headerValue,
  fc.nat().map(String),
  fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
);
const now = fc.integer({ min: 0, max: 4_102_444_800_000 });

function toBytes(value: unknown): Buffer {
  try {
    // `anything` includes values that JSON cannot express.
    return Buffer.from(
      JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? '',
    );
  } catch {
    return Buffer.alloc(0);
  }
}

it('judgeResult gives a success or a known failure, definite only for a refusal or a connection never opened', () => {
  assertForMany(2_000, result, schema, now, (exchange, answerSchema, at) => {
    const judged = judgeResult(exchange, { read: readAs(answerSchema) }, at);
    const isKnown = judged.ok
      ? judged.status >= 200 && judged.status <= 299
      : failureClasses.includes(judged.failure) && /[.”]$/.test(judged.detail);
    expect(isKnown).toBe(true);
    const provesNothingBought =
      exchange.kind === 'no_answer'
        ? exchange.failure === 'not_sent'
        : exchange.answer.status >= 400 && exchange.answer.status <= 499;
    expect(!judged.ok && isDefinite(judged.failure) && !provesNothingBought).toBe(false);
  });
});

it('an eSIM with any iccid is read, and its iccid is usable, not there yet, or reported as misstated', () => {
  assertForAll(fc.oneof(fc.jsonValue(), fc.stringMatching(/^[0-9]{17,23}$/)), (iccid) => {
    const read = readAnswer(serviceEsim, { id: 'e', status: 'new', iccid, activation_code: null }, 'esim');
    if (!read.ok) throw new Error('it was not read');
    const isUsable = (text: unknown) => typeof text === 'string' && /^[0-9]{18,22}$/.test(text);
    const isThere = !isNotThereYet(iccid);
    expect(read.value.iccid ?? null).toBe(isThere && isUsable(iccid) ? iccid : null);
    expect(read.value.misstated ?? []).toEqual(isThere && !isUsable(iccid) ? ['iccid'] : []);
  });
});

describe('readJson', () => {
  it('reads what JSON.parse reads from a text without duplicate keys', () => {
    assertForAll(fc.json(), (text) => {
      const value: unknown = JSON.parse(Buffer.from(text).toString());
      expect(readJson(Buffer.from(text))).toEqual({ ok: true, value });
    });
  });

  it('finds a duplicate key at every place and in every spelling', () => {
    const key = fc.string({ minLength: 1, maxLength: 5 });
    assertForAll(key, fc.json(), fc.json(), fc.boolean(), fc.nat(3), (name, first, second, escaped, depth) => {
      const plain = JSON.stringify(name);
      const other = JSON.stringify(`${name} and more`);
      let text = `{${plain}:${first},${other}:[],${escaped ? escapedThroughout(name) : plain}:${second}}`;
      for (let level = 0; level < depth; level += 1) text = `[{"k":1},{"inner":${text}}]`;
      expect(readJson(Buffer.from(text))).toEqual({ ok: false, reason: 'duplicate_key' });
    });
  });

  it('refuses all bytes that are not UTF-8 or not JSON, and never throws', () => {
    assertForAll(fc.uint8Array(), (array) => {
      const reading = readJson(array);
      expect(reading.ok || ['not_utf8', 'not_json', 'duplicate_key'].includes(reading.reason)).toBe(true);
    });
  });
});

/** A JSON string that consists of escapes only. */
function escapedThroughout(text: string): string {
  const units = Array.from({ length: text.length }, (_unit, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('retryAfterMs', () => {
  it('is between a second and an hour, or nothing', () => {
    assertForAll(retryAfter, now, (value, at) => {
      const wait = retryAfterMs(value, at);
      expect(wait === undefined || (wait >= 1_000 && wait <= 3_600_000)).toBe(true);
    });
  });
});

describe('parseEvent', () => {
  const event = fc.oneof(fc.constantFrom(...EVENT_KINDS), fc.constant('nonsense'), fc.anything());
  const status = fc.constantFrom('processing', 'completed', 'failed', 'cancelled', 'active', 'expired', 'odd');
  const data = fc.oneof(
    fc.record(
      { id: fc.oneof(fc.nat(), fc.string()), esim_id: fc.oneof(fc.nat(), fc.string()), status },
      { requiredKeys: [] },
    ),
    fc.anything(),
  );
  const body = fc.oneof(bytes, fc.record({ event, data }, { requiredKeys: [] }).map(toBytes));
  const kinds = new Set(['purchase', 'ping']);

  it('gives one of its kinds for all bytes, and never throws', () => {
    assertForMany(2_000, body, (content) => {
      const parsed = parseEvent(content);
      const closed = parsed.kind === 'quarantine' ? parsed.reason in QUARANTINE_REASONS : kinds.has(parsed.kind);
      expect(closed).toBe(true);
    });
  });
});
