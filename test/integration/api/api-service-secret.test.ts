import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inbox, webhookSecrets } from '#db/schema.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { changeOrder } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { idleService, startTestApi, WEBHOOK_SECRET, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { openDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { WebhookSecretAnswer } from '#upstream/contract.ts';

const PATH = '/v1/service/webhook-secret';

/** What the service answers to the next calls. */
const script = { answers: [] as OptionalResult<WebhookSecretAnswer>[] };
const nextAnswer = async () => {
  const answer = script.answers.shift();
  if (answer === undefined) throw new Error('this call is unexpected');
  return answer;
};
const service = { ...idleService, createWebhookSecret: nextAnswer, rotateWebhookSecret: nextAnswer };
const made = (secret: string): OptionalResult<WebhookSecretAnswer> => ({ ok: true, status: 201, value: { secret } });
const failed = (failure: FailureClass): OptionalResult<WebhookSecretAnswer> => ({
  ok: false,
  kind: 'failure',
  failure,
  detail: 'In words.',
});

const MAY_EXIST = /may have created a secret that we have not received\. Rotate/;
const UNSUPPORTED = { ok: false, kind: 'unsupported', capability: 'webhook_secret' } as const;

let api: TestApi;
let caller: HttpClient;
beforeEach(async () => {
  script.answers = [];
  api = await startTestApi({ service });
  caller = await api.caller();
});
afterEach(() => api[Symbol.asyncDispose]());

const create = () => postOnce(caller, PATH);
const rotate = (body: unknown = {}, by = caller) => postOnce(by, `${PATH}/rotate`, body);
/** The status of a delivery that is signed with this secret. */
const statusOf = async (secret: string) =>
  (await api.deliver({ body: { event: 'ping', data: { id: randomUUID() } }, secret })).status;

describe('POST /v1/service/webhook-secret', () => {
  it('stores the new secret encrypted, verifies with it at once, and returns it to no caller', async () => {
    script.answers = [made('whsec_shown_once')];
    expect(await statusOf('whsec_shown_once')).toBe(401);
    const answer = await create();
    const stored = { environment: 'sandbox', stored_at: '2030-01-31T12:00:00.000Z', former_verifies_until: null };
    expect([answer.status, answer.body]).toEqual([201, { ...stored, configured_secrets: 1 }]);
    // In the same second as the 401 before it. A stored secret applies without waiting for the next check.
    expect(await statusOf('whsec_shown_once')).toBe(200);
    expect(await statusOf(WEBHOOK_SECRET)).toBe(200);
    expect(api.log.join('\n')).not.toContain('whsec_shown_once');
    const [row] = await api.database.run((db) => db.select().from(webhookSecrets));
    expect(row?.encryptedSecret.includes(Buffer.from('shown_once'))).toBe(false);
  });

  it.each<[string, OptionalResult<WebhookSecretAnswer>[], number, string, RegExp]>([
    ['has one already', [failed('key_or_reference_used')], 409, 'webhook_secret_exists', /./],
    ['has no such call', [UNSUPPORTED], 501, 'service_does_not_offer', /./],
    ['refuses the login', [failed('unauthorized')], 503, 'service_unavailable', /./],
    ['never answers', Array.from({ length: 4 }, () => failed('timeout')), 504, 'service_timeout', MAY_EXIST],
  ])('changes nothing when the service %s', async (_, answers, status, code, detail) => {
    script.answers = answers;
    const answer = await create();
    expect([answer.status, answer.at('code')]).toEqual([status, code]);
    expect(answer.textAt('detail')).toMatch(detail);
    expect(await api.database.run((db) => db.$count(webhookSecrets))).toBe(0);
  });
});

describe('POST /v1/service/webhook-secret/rotate', () => {
  it('ends former secrets at once after a leak', async () => {
    script.answers = [made('whsec_leaked'), made('whsec_second')];
    await create();
    const rotated = await rotate({ overlap_seconds: 0 });
    // The secret of the environment is still accepted, and the answer says so.
    expect([rotated.status, rotated.at('configured_secrets')]).toEqual([200, 1]);
    api.clock.now += 1;
    expect(await statusOf(WEBHOOK_SECRET)).toBe(200);
    expect(await statusOf('whsec_leaked')).toBe(401);
    expect(await statusOf('whsec_second')).toBe(200);
  });

  it('refuses an invalid overlap, and reports a missing secret', async () => {
    for (const seconds of [-1, 0.5, '60', 2_592_001])
      expect((await rotate({ overlap_seconds: seconds })).status).toBe(400);
    script.answers = [
      { ok: false, kind: 'failure', failure: 'invalid_request', detail: 'In words.', code: 'not_found' },
    ];
    expect((await rotate()).at('code')).toBe('webhook_secret_missing');
  });

  it('is refused during another rotation, and works afterwards', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: askedNow } = Promise.withResolvers<void>();
    const rotateWebhookSecret = async () => {
      askedNow();
      await release;
      return made('whsec_slow');
    };
    await using own = await startTestApi({ service: { ...idleService, rotateWebhookSecret } });
    const by = await own.caller();
    const slow = rotate({}, by);
    await asked;
    const second = await rotate({}, by);
    expect([second.status, second.at('code')]).toEqual([409, 'webhook_secret_busy']);
    expect(second.headers.get('retry-after')).toBe('5');
    resolve();
    expect((await slow).status).toBe(200);
  });
});

describe('without the database', () => {
  it('an API without known secrets reports no forgery', async () => {
    const nowhere = openDatabase('postgres://nobody:nothing@127.0.0.1:1/nowhere');
    await using own = await startTestApi({}, () => nowhere);
    const answer = await own.deliver({ body: { event: 'ping' }, secret: 'whsec_unknown' });
    expect([answer.status, answer.at('code')]).toEqual([503, 'database_unavailable']);
    const stale = await own.deliver({ body: { event: 'ping' }, secret: 'whsec_unknown', timestamp: '1' });
    expect(stale.status).toBe(401);
    expect(await own.database.run((db) => db.$count(inbox))).toBe(0);
  });
});

describe('readiness', () => {
  const hold = async (failureClass: FailureClass) => {
    const id = await acceptTestOrder(api.database);
    await changeOrder(api, id, { status: 'held', failureClass });
    return id;
  };
  /** On a busy machine a probe may time out, so this repeats it until it shows the value. */
  const degradedBecomes = (expected: unknown) =>
    waitFor(`/readyz says ${JSON.stringify(expected)}`, async () => {
      const answer = await caller.get('/readyz');
      expect([answer.status, answer.at('status'), answer.at('degraded')]).toEqual([200, 'ready', expected]);
      return true;
    });

  it('names the hold reasons of purchases at the service and stays ready, until they continue', async () => {
    const ids = [await hold('not_approved'), await hold('not_approved')];
    await hold('rate_limited');
    const detail: unknown = expect.stringMatching(/403, .* 2 purchases are held for it\. Ask the service/);
    await degradedBecomes([{ condition: 'not_approved', detail }]);
    for (const id of ids) await changeOrder(api, id, { status: 'processing' });
    await degradedBecomes([]);
  });
});
