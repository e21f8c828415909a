import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import { failureClasses } from '#domain/work/failure.ts';
import { EXCHANGES, exchangeNames } from '#test/support/network/client-exchanges.ts';
import { httpAnswer, type RawRequest } from '#test/support/network/raw-server.ts';
import { jsonAnswer, startTestClient } from '#test/support/upstream-client.ts';

/** One way in which a service may answer a request. */
interface Treatment {
  readonly name: string;
  /** It ends only with the deadline. */
  readonly isEndless?: boolean;
  readonly carryOut: (socket: Socket, good: unknown) => void;
}

const TOO_MUCH = ANSWER_LIMITS.listBytes + 1;
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const SIMPLE: readonly Treatment[] = [
  {
    name: 'announces too much',
    carryOut: (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${TOO_MUCH}\r\n\r\n{`),
  },
  {
    name: 'sends too much',
    carryOut: (socket) => socket.write(`${CHUNKED}${TOO_MUCH.toString(16)}\r\n${' '.repeat(TOO_MUCH)}\r\n`),
  },
  { name: 'says nothing', isEndless: true, carryOut: () => undefined },
  { name: 'drips', isEndless: true, carryOut: (socket, good) => void drip(socket, jsonAnswer(good)) },
  { name: 'resets', carryOut: (socket) => socket.resetAndDestroy() },
];

const status = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(200, 201, 204, 301, 307, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 999 }) },
);
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const token = fc.stringMatching(/^[A-Za-z0-9 ,;=/.-]{0,40}$/).map((text) => text.trim());
const headers = fc.record(
  {
    'retry-after': fc.oneof(token, fc.nat().map(String)),
    'content-encoding': fc.constantFrom('gzip', 'identity', 'br', 'x'),
    'content-type': token,
    location: fc.constantFrom('/elsewhere', 'http://127.0.0.1:1/', '//nowhere', ''),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  bytes,
  fc.json().map((text) => Buffer.from(text)),
);
/** A correct answer with one part replaced or removed. */
const misstates = (code: number, part: number, by: unknown): Treatment => ({
  name: `misstates part ${part} as ${JSON.stringify(by)}`,
  carryOut: (socket, good) => socket.write(jsonAnswer(misstated(good, part, by), code)),
});
const treatment: fc.Arbitrary<Treatment> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(status, headers, body).map(([code, fields, content]): Treatment => ({
      name: `answers ${code} ${JSON.stringify(fields)} ${content.toString('base64')}`,
      carryOut: (socket) => socket.write(httpAnswer(code, content, fields)),
    })),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom(200, 201, 299), fc.nat({ max: 40 }), fc.oneof(fc.jsonValue(), fc.constant(undefined)))
      .map((values) => misstates(...values)),
  },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 400 }).map((after): Treatment => ({
      name: `cuts off after ${after} bytes`,
      carryOut: (socket, good) => socket.end(jsonAnswer(good).subarray(0, after)),
    })),
  },
  {
    weight: 2,
    arbitrary: bytes.map((babble): Treatment => ({
      name: `babbles ${babble.toString('base64')}`,
      isEndless: true,
      carryOut: (socket) => socket.write(babble),
    })),
  },
  { weight: 6, arbitrary: fc.constantFrom(...SIMPLE) },
);

/** For treatments that end by themselves: also on a busy machine with their own result, not with a timeout. */
const DEADLINE_MS = 10_000;
const SHORT_DEADLINE_MS = 150;

/** One call, its treatment, and whether the login gets the same treatment. */
const trial = fc.record({
  name: fc.constantFrom(...exchangeNames),
  treatments: fc.array(treatment, { minLength: 1, maxLength: 3 }),
  fromLogin: fc.boolean(),
});
type Trial = typeof trial extends fc.Arbitrary<infer Value> ? Value : never;

describe('the client', () => {
  it('gives a success or a known failure, and never throws', async () => {
    const failures = new Set<string | undefined>();
    const drifting = exchangeNames.map((name): Trial => {
      return { name, treatments: [misstates(200, 0, undefined)], fromLogin: false };
    });
    await fc.assert(
      // Many calls at once, because most of them wait for their deadline.
      fc.asyncProperty(fc.array(trial, { minLength: 25, maxLength: 25 }), async (trials) => {
        for (const failure of await Promise.all(trials.map(failureOf))) failures.add(failure);
      }),
      { numRuns: 16, examples: [[drifting]] },
    );
    // These expectations also hold for a client that never sends anything, so calls that got further are counted.
    const expected = [
      'contract_drift',
      'unreadable_answer',
      'connection_lost',
      'timeout',
      'server_error',
      'rate_limited',
      'not_sent',
      undefined,
    ];
    expect(expected.filter((failure) => !failures.has(failure))).toEqual([]);
  });
});

/** Checks the result. @returns the class of the failure; undefined for a success. */
async function failureOf({ name, treatments, fromLogin }: Trial): Promise<string | undefined> {
  const { call, answer } = EXCHANGES[name];
  let treated = 0;
  const treat = (socket: Socket, good: unknown): undefined => {
    // The last treatment repeats: lists have further pages, and a 401 causes a second send.
    const next = treatments[Math.min(treated, treatments.length - 1)];
    treated += 1;
    next?.carryOut(socket, good);
  };
  await using opened = await startTestClient(({ raw }) => treat(raw.socket, answer), {
    deadlineMs: treatments.some(({ isEndless = false }) => isEndless) ? SHORT_DEADLINE_MS : DEADLINE_MS,
    ...(fromLogin && { onLogin: (raw: RawRequest) => treat(raw.socket, { access_token: 'token-1' }) }),
  });
  const result = judged.parse(await call(opened.client));
  return result.ok ? undefined : result.failure;
}

/** The schema of all results that the client may return. */
const judged = z.discriminatedUnion('ok', [
  z.looseObject({ ok: z.literal(true), value: z.unknown(), status: z.int().min(200).max(499) }),
  z.object({
    ok: z.literal(false),
    kind: z.literal('failure'),
    failure: z.enum(failureClasses),
    detail: z.string().endsWith('.'),
  }),
]);

/** Sends byte by byte, too slowly. */
async function drip(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    if (socket.destroyed) return;
    socket.write(Buffer.from([byte]));
    await delay(20, undefined, { ref: false });
  }
}

/** A copy with its n-th part (fields and items, counted through the whole value) replaced, or removed by undefined. */
function misstated(value: unknown, part: number, by: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = [];
  const walk = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const [key, inner] of Object.entries(holder)) {
      places.push({ holder: holder as Record<string, unknown>, key });
      walk(inner);
    }
  };
  walk(copy);
  const place = places[part % Math.max(places.length, 1)];
  if (place === undefined) return by ?? null;
  place.holder[place.key] = by;
  return copy;
}
