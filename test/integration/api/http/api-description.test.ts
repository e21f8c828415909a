import { describe, expect, it } from 'vitest';
import { problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemPath, problemType } from '#api/problems/problem.ts';
import { GUIDES } from '#api/site/guides.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { PUBLIC_URL, startTestApi } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';

const api = disposedAtEnd(await startTestApi());
const stranger = new HttpClient(api.baseUrl);

describe('the description of the API', () => {
  it('is closed for requests, and open for additional fields of later versions in answers', async () => {
    const answer = await stranger.get('/openapi.json');
    expect(answer.at('components', 'schemas', 'OrderInput', 'additionalProperties')).toBe(false);
    expect(answer.at('components', 'schemas', 'Order', 'properties', 'id', 'type')).toBe('string');
    expect(answer.at('components', 'schemas', 'Order', 'additionalProperties')).toBeUndefined();
  });

  it('lists only codes with a page, and each page names a solution', async () => {
    for (const code of problemCodes) {
      const page = await stranger.get(problemPath(code));
      expect((await stranger.get(`/problems/${code}`)).text).toBe(page.text);
      expect([code, page.status, page.headers.get('content-type')]).toEqual([code, 200, 'text/html; charset=utf-8']);
      expect(page.text).toContain(`<code>${code}</code>, HTTP status ${PROBLEMS[code].status}`);
      const facts = await stranger.get(problemPath(code), { headers: { accept: 'application/json' } });
      expect(facts.body).toEqual({ type: problemType(code, PUBLIC_URL), code, meaning: null, ...PROBLEMS[code] });
    }
  });

  it('is shown on pages without external resources, under a policy that forbids them', async () => {
    const guides = GUIDES.map(({ name }) => `/docs/guides/${name}`);
    for (const path of ['/docs', '/docs/reference', '/problems/quote_expired', ...guides]) {
      const page = await stranger.get(path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
      const parts = [...page.text.matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)];
      expect(parts.length).toBeGreaterThanOrEqual(3);
      for (const [, part = ''] of parts) {
        const file = await stranger.get(new URL(part, `${api.baseUrl}${path}`).pathname);
        expect([part, file.status]).toEqual([part, 200]);
      }
      expect(page.text).not.toMatch(/<script>|<script[^>]*https?:|<img/);
    }
    const slash = await stranger.get('/docs/');
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '../docs']);
    expect((await stranger.get('/')).headers.get('location')).toBe('docs');
  });

  it('has guides whose links lead to pages and sections that exist', async () => {
    const broken: string[] = [];
    for (const { name } of GUIDES) {
      const from = `${api.baseUrl}/docs/guides/${name}`;
      const { text } = await stranger.get(`/docs/guides/${name}`);
      for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        const target = new URL(href, from);
        if (target.origin !== api.baseUrl) continue;
        const page = await stranger.get(target.pathname);
        const section = target.hash === '' || target.hash.startsWith('#tag/') ? '' : `id="${target.hash.slice(1)}"`;
        if (page.status !== 200 || !page.text.includes(section)) broken.push(`${name}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('answers an unknown guide or file with 404, and a known file only once', async () => {
    for (const path of ['/docs/guides/none', '/docs/assets/none.js', '/docs/assets/..%2fpages.ts'])
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404]);
    const script = await stranger.get('/docs/assets/scalar.js');
    expect(script.text.length).toBeGreaterThan(1_000_000);
    const known = { 'if-none-match': script.headers.get('etag') ?? '' };
    expect((await stranger.get('/docs/assets/scalar.js', { headers: known })).status).toBe(304);
  });
});
