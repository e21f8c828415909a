import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { cancellations, esims } from '#db/schema.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { makeLink, SHARED_CODE, sharedEsim } from '#test/support/api/share-links.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient, type HttpAnswer } from '#test/support/network/http.ts';
import { qrOfSvg } from '#test/support/qr.ts';

const MINUTE = 60_000;
const NOBODY = '0'.repeat(32);
const HTML = 'text/html; charset=utf-8';

const { api, caller } = await apiOfFile();
const visitor = new HttpClient(api.baseUrl);
beforeEach(() => {
  api.clock.now = TEST_NOW;
});

const views = async (id: string) => {
  const link = await caller.get(`/v1/share-links/${id}`);
  return [link.at('views'), link.at('last_viewed_at')];
};
/** Headers that differ with each request. */
const lasting = ({ status, headers, text }: HttpAnswer) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
});

describe('the page of a share link', () => {
  it('has the QR code, the links for both systems and the codes, in the language of the browser', async () => {
    const { path } = await makeLink(caller, await sharedEsim(api), { label: 'Japan <1 GB> & more' });
    const page = await visitor.get(path, { headers: { 'Accept-Language': 'nl, fr-CA;q=0.8, de;q=0.7' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, HTML]);
    expect(page.headers.get('content-language')).toBe('fr');
    expect(page.text).toContain('<html lang="fr" dir="ltr">');
    expect(page.text).toContain('Installez votre eSIM');
    expect(page.text).toContain('Japan &lt;1 GB&gt; &amp; more');
    const carddata = 'esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.com%24A1B2-C3D4-E5F6';
    for (const system of ['apple', 'android'])
      expect(page.text).toContain(`href="https://esimsetup.${system}.com/${carddata}"`);
    for (const code of ['smdp.example.com', 'A1B2-C3D4-E5F6', SHARED_CODE])
      expect(page.text).toContain(`<code dir="ltr">${code}</code>`);
    expect(qrOfSvg(page.text)).toEqual({ text: SHARED_CODE, quietZone: 4 });
    expect(page.text).toContain('7 février 2030');
    expect(page.text).not.toContain('code de confirmation');
  });

  it('needs no script, loads nothing, sets no cookie, and is neither stored nor indexed', async () => {
    const { path } = await makeLink(caller, await sharedEsim(api));
    const page = await visitor.get(path);
    expect(page.text).not.toMatch(/<(?:script|img|link|iframe|form|object)\b|\bon\w+=|\bstyle="|@import|url\(/);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
    );
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers.get('set-cookie')).toBeNull();
    expect((await visitor.get('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
  });

  it('is counted and audited with the link as actor, before the codes are shown', async () => {
    const esim = await sharedEsim(api);
    const { id, path } = await makeLink(caller, esim);
    await visitor.get(path);
    api.clock.now += MINUTE;
    await visitor.get(path);
    expect(await views(id)).toEqual([2, new Date(TEST_NOW + MINUTE).toISOString()]);
    expect((await auditOf(api, esim)).map(({ actor, action, at }) => [actor, action, at.getTime()])).toEqual([
      [`share_link/${id}`, 'esim.share_link_viewed', TEST_NOW],
      [`share_link/${id}`, 'esim.share_link_viewed', TEST_NOW + MINUTE],
    ]);
  });

  it('shows no code when the audit log cannot be written', async () => {
    await using own = await startTestApi();
    const { path } = await makeLink(await own.caller(), await sharedEsim(own));
    await own.database.run((db) => db.execute('alter table audit_log rename to audit_log_away'));
    const page = await new HttpClient(own.baseUrl).get(path, { headers: { 'Accept-Language': 'de' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([500, HTML]);
    expect(page.text).toContain('kann gerade nicht angezeigt werden');
    expect(page.text).not.toContain('A1B2');
  });

  it('puts the phone of the visitor first', async () => {
    const { path } = await makeLink(caller, await sharedEsim(api));
    const order = async (agent: string) => {
      const { text } = await visitor.get(path, { headers: { 'User-Agent': agent } });
      return [...text.matchAll(/esimsetup\.(\w+)\.com/g)].map(([, system]) => system);
    };
    expect(await order('Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140')).toEqual(['android', 'apple']);
    expect(await order('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)')).toEqual(['apple', 'android']);
  });

  it('names the confirmation code when the phone asks for one', async () => {
    const esim = await sharedEsim(api, {}, { code: `${SHARED_CODE}$$1` });
    const page = await visitor.get((await makeLink(caller, esim)).path);
    expect(page.text).toContain('confirmation code');
    expect(qrOfSvg(page.text).text).toBe(`${SHARED_CODE}$$1`);
  });

  it('says that the eSIM is installed or ended, without the codes of an ended one', async () => {
    const esim = await sharedEsim(api);
    const { path } = await makeLink(caller, esim);
    const page = async (state: Partial<typeof esims.$inferInsert>) => {
      await api.database.run((db) => db.update(esims).set(state).where(eq(esims.id, esim)));
      return (await visitor.get(path)).text;
    };
    expect((await visitor.get(path)).text).not.toContain('already installed');
    expect(await page({ status: 'installed' })).toMatch(/already installed[^]*A1B2-C3D4/);
    const ended = [await page({ expiresAt: new Date(TEST_NOW) })];
    const row = { id: newId('cancellation'), apiKeyId: 'key_test', esimId: esim };
    await api.database.run((db) => db.insert(cancellations).values(row));
    ended.push(await page({ status: 'available', expiresAt: null }));
    expect(ended[0]).toContain('This eSIM has expired');
    expect(ended[1]).toContain('This eSIM was cancelled');
    expect(ended.join()).not.toContain('A1B2');
  });
});

describe('a request that no person makes', () => {
  it('is answered without codes, counts nothing, and a person behind it can go on', async () => {
    const esim = await sharedEsim(api);
    const { id, path } = await makeLink(caller, esim, { label: 'Japan' });
    const requests = [
      { 'User-Agent': 'WhatsApp/2.23.20.0' },
      { 'User-Agent': 'TelegramBot (like TwitterBot)' },
      { 'User-Agent': 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)' },
      { 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0) SkypeUriPreview Preview/0.5' },
      { 'Sec-Purpose': 'prefetch;prerender' },
      { Purpose: 'preview' },
    ] as const;
    for (const headers of requests) {
      const { status, text } = await visitor.get(path, { headers });
      expect([headers, status, text.includes('A1B2'), text.includes('Japan')]).toEqual([headers, 200, false, true]);
    }
    const head = await visitor.call('HEAD', path, {});
    expect([head.status, head.text]).toEqual([200, '']);
    expect([await views(id), await auditOf(api, esim)]).toEqual([[0, null], []]);

    const headers = requests[0];
    const [, query = ''] = /href="(\?[^"]*show=1)"/.exec((await visitor.get(path, { headers })).text) ?? [];
    const shown = await visitor.get(path + query.replaceAll('&amp;', '&'), { headers });
    expect(shown.text).toContain('A1B2');
    expect(shown.text).toContain('?lang=de&amp;show=1');
    expect((await views(id))[0]).toBe(1);
  });

  it('does not include phones with "bot" in their names', async () => {
    const { id, path } = await makeLink(caller, await sharedEsim(api));
    const page = await visitor.get(path, {
      headers: { 'User-Agent': 'Mozilla/5.0 (Linux; Android 12; CUBOT P60) AppleWebKit/537.36 Chrome/120' },
    });
    expect([page.text.includes('A1B2'), (await views(id))[0]]).toEqual([true, 1]);
  });
});

describe('an unknown, expired or revoked link', () => {
  it('is the same plain page, for GET and HEAD, without a trace', async () => {
    const esim = await sharedEsim(api);
    const expired = await makeLink(caller, esim, { expires_in_seconds: 300, language: 'de', label: 'Japan' });
    const revoked = await makeLink(caller, esim, { language: 'de' });
    await caller.call('DELETE', `/v1/share-links/${revoked.id}`, {});
    api.clock.now += 5 * MINUTE;
    for (const method of ['GET', 'HEAD']) {
      const ask = async (path: string) => lasting(await visitor.call(method, path, {}));
      const unknown = await ask(`/e/${NOBODY}`);
      expect(unknown.status).toBe(404);
      for (const path of [expired.path, revoked.path, `/e/${revoked.id}`, '/e/x', `/e/${'x'.repeat(5_000)}`])
        expect(await ask(path)).toEqual(unknown);
    }
    const page = await visitor.get(`/e/${NOBODY}?lang=zh`);
    expect(page.text).toContain('此页面不可用');
    const secure = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    expect(Object.fromEntries(page.headers)).toMatchObject(secure);
    expect([await auditOf(api, esim), (await views(expired.id))[0]]).toEqual([[], 0]);
  });
});

describe('the visits of one address', () => {
  it('are limited, with a page that says so and when to come back; others are not affected', async () => {
    await using own = await startTestApi({
      // 20 a minute: five at once, then one in three seconds.
      rateLimits: { perMinute: undefined, failuresPerMinute: 10, sharePagesPerMinute: 20 },
      trustedProxies: ['127.0.0.1'],
    });
    const { path } = await makeLink(await own.caller(), await sharedEsim(own));
    const stranger = new HttpClient(own.baseUrl);
    const from = (address: string, target: string) =>
      stranger.get(target, { headers: { 'X-Forwarded-For': address, 'Accept-Language': 'de' } });
    for (let guess = 0; guess < 5; guess += 1) expect((await from('203.0.113.7', '/e/guess')).status).toBe(404);
    const refused = await from('203.0.113.7', path);
    const header = (name: string) => refused.headers.get(name);
    expect([refused.status, header('retry-after'), header('content-type')]).toEqual([429, '3', HTML]);
    expect(refused.text).toContain('Zu viele Anfragen');
    expect(header('cache-control')).toBe('no-store');
    expect((await from('203.0.113.8', path)).status).toBe(200);
    own.clock.now += 3_000;
    expect((await from('203.0.113.7', path)).status).toBe(200);
  });
});

describe('the log', () => {
  it('has the pattern of the address, never the secret, also of guesses and failures', async () => {
    const { secret, path } = await makeLink(caller, await sharedEsim(api));
    await visitor.get(path);
    await visitor.get(`${path}/more`);
    await visitor.call('POST', path, {});
    await visitor.get(`/e/%zz${secret}`);
    const log = api.log.join('');
    expect(log).toContain('"route":"/e/{secret}"');
    expect(log).not.toContain(secret);
  });
});
