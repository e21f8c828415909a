import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Operation } from '#api/http/operation.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { MISTAKES } from '#test/support/natural-mistakes.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';

/** Texts of the validator, which callers must never see. */
const VALIDATOR_TEXT = /invalid input|invalid option|unrecognized|too (?:big|small)|expected (?!to)|received/i;

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

describe('a natural mistake is answered with what is wrong and what to do', () => {
  it.each(MISTAKES)('$name', async ({ call: [method, path], body, headers, anonymous, answers }) => {
    const client = anonymous ? new HttpClient(api.baseUrl) : caller.with({ 'idempotency-key': randomUUID() });
    const answer = await client.call(method, path, {
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
    expect([answer.status, answer.at('code'), answer.at('detail')]).toEqual(answers);
  });
});

describe('a body of the wrong type', () => {
  const bodyCalls = () => api.operations.filter(({ reads, scope }) => reads === 'json' && scope !== undefined);
  const send = async ({ method, path }: Operation, sent: unknown) =>
    caller.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1'), {
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify(sent),
    });

  it('or with fields of the wrong type is refused without a text of the validator, by every call', async () => {
    expect(bodyCalls().length).toBeGreaterThan(20);
    for (const call of bodyCalls()) {
      for (const body of [null, 42, 'text', [], [{}]])
        expect(`${call.id} ${(await send(call, body)).textAt('detail')}`).toMatch(/ The body must be an object, not /);
      for (const value of [null, 42, 'text', [], {}]) {
        const fields = Object.keys(call.body?.shape ?? {}).map((field) => [field, value]);
        const answer = await send(call, Object.fromEntries(fields));
        expect(`${call.id} ${answer.text}`).not.toMatch(VALIDATOR_TEXT);
      }
    }
  });
});
