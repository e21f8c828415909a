import { describe, expect, it } from 'vitest';
import { refusedHeaderPrefixes } from '#db/schema.ts';
import { forgetRefusedPrefix, readRefusedPrefix } from '#db/service/webhook-secrets.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { storedDeliveries } from '#test/support/api/service-deliveries.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(await startTestApi());

const { countRows, metric } = storedDeliveries(() => api);
const ping = (data = {}) => ({ event: 'ping', data });
const reported = () => api.database.run(readRefusedPrefix);
const forget = () => api.database.run((db) => db.delete(refusedHeaderPrefixes));
/** On a busy machine a probe may time out, so this repeats it until it shows the value. */
const degradedBecomes = (expected: unknown) =>
  waitFor(`/readyz says ${JSON.stringify(expected)}`, async () => {
    const answer = await new HttpClient(api.baseUrl).get('/readyz');
    expect([answer.status, answer.at('degraded')]).toEqual([200, expected]);
    return true;
  });

const otherPrefix = (detail: RegExp) => [{ condition: 'other_header_prefix', detail: expect.stringMatching(detail) }];
const refusals = () => metric('reseller_webhook_deliveries_total{result="other_header_prefix"}');

describe('SERVICE_HEADER_PREFIX', () => {
  it('names the verified headers, and no others', async () => {
    await using own = await startTestApi({ headerPrefix: 'X-Acme' });
    expect((await own.deliver({ body: ping(), prefix: 'X-Acme' })).status).toBe(200);
    expect((await own.deliver({ body: ping(), prefix: 'x-acme' })).status).toBe(200);
    expect((await own.deliver({ body: ping({ n: 2 }), prefix: 'X-Service' })).status).toBe(401);
  });
});

describe('a delivery under another prefix', () => {
  it.each([
    ['signed with our secret', {}, true],
    ['signed with another secret', { secret: 'of a stranger' }, false],
    ['signed with our secret too long ago', { timestamp: String(TEST_NOW / 1_000 - 301) }, false],
  ])('that is %s is refused with 401, and reported with its verification result', async (_how, how, verified) => {
    await forget();
    await using own = await startTestApi({ database: api.database });
    const before = await countRows();
    const plain = await own.deliver({ body: ping(), secret: 'of a stranger' });
    const answer = await own.deliver({ body: ping(), prefix: 'X-Acme', ...how });
    expect([answer.status, problemOf(answer).code]).toEqual([401, 'invalid_signature']);
    expect(answer.text.replaceAll(/req_[\w-]+/g, '')).toBe(plain.text.replaceAll(/req_[\w-]+/g, ''));
    expect(await countRows()).toBe(before);
    expect(await reported()).toMatchObject({ prefix: 'X-Acme', verified, deliveries: 1 });
    const logged = own.log.filter((line) => line.includes('X-Acme'));
    expect(logged).toEqual([expect.stringContaining(`"verified":${verified}`)]);
  });

  it('is counted, logged once, stored once a minute, and shown by /readyz with the setting to change', async () => {
    await forget();
    const before = await refusals();
    const forged = { body: ping(), prefix: 'X-Brand', secret: 'of a stranger' };
    for (let sent = 0; sent < 20; sent += 1) await api.deliver(forged);
    expect(await refusals()).toBe(before + 20);
    expect(api.log.filter((line) => line.includes('X-Brand'))).toHaveLength(1);
    expect(await reported()).toMatchObject({ prefix: 'X-Brand', deliveries: 1 });
    api.clock.now += 60_000;
    await api.deliver(forged);
    expect(await reported()).toMatchObject({ prefix: 'X-Brand', deliveries: 21 });
    await degradedBecomes(
      otherPrefix(/X-Brand-Event.* unverified: .* If Brand is .* set SERVICE_HEADER_PREFIX=X-Brand,/),
    );
  });

  it('is no longer reported after a valid delivery, except our own ping', async () => {
    expect(await reported()).toBeDefined();
    await api.deliver({ id: 'doctor-1', body: ping({ from: 'doctor' }) });
    expect(await reported()).toBeDefined();
    await api.deliver({ body: ping({ from: 'service' }) });
    expect(await reported()).toBeUndefined();
    await degradedBecomes([]);
  });

  it('with a valid signature takes precedence over a later unverified one', async () => {
    await forget();
    await using own = await startTestApi({ database: api.database });
    await own.deliver({ body: ping(), prefix: 'X-Acme' });
    await own.deliver({ body: ping(), prefix: 'X-Forged', secret: 'of a stranger' });
    expect(await reported()).toMatchObject({ prefix: 'X-Acme', verified: true });
    expect(await api.database.run((db) => db.$count(refusedHeaderPrefixes))).toBe(2);
    await degradedBecomes(otherPrefix(/right by our webhook secret.* Set SERVICE_HEADER_PREFIX=X-Acme,/));
  });

  it('is not reported when our own doctor sent it with another setting', async () => {
    await forget();
    await using own = await startTestApi({ database: api.database });
    expect((await own.deliver({ id: 'doctor-2', body: ping(), prefix: 'X-Acme' })).status).toBe(401);
    expect(await reported()).toBeUndefined();
    expect(own.log.filter((line) => line.includes('X-Acme'))).toEqual([]);
  });

  it('is deleted when its prefix is configured', async () => {
    await forget();
    await using own = await startTestApi({ database: api.database });
    await own.deliver({ body: ping(), prefix: 'X-Acme' });
    await api.database.run((db) => forgetRefusedPrefix(db, 'X-Other'));
    expect(await reported()).toBeDefined();
    await api.database.run((db) => forgetRefusedPrefix(db, 'x-acme'));
    expect(await reported()).toBeUndefined();
  });
});
