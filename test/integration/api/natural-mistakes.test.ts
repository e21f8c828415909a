import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MISTAKES_IN_ADDRESSES } from '#test/support/mistakes/addresses.ts';
import { MISTAKES_IN_BODIES } from '#test/support/mistakes/bodies.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';

let api: TestApi;
let caller: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

describe('a natural mistake is answered with what is wrong and what to do', () => {
  it.each([...MISTAKES_IN_BODIES, ...MISTAKES_IN_ADDRESSES])(
    '$name',
    async ({ call: [method, path], body, headers, anonymous, answers }) => {
      const client = anonymous ? new HttpClient(api.baseUrl) : caller.with({ 'idempotency-key': crypto.randomUUID() });
      const answer = await client.call(method, path, {
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      expect([answer.status, answer.at('code'), answer.at('detail')]).toEqual(answers);
    },
  );
});
