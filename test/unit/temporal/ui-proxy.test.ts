import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { close, listen, type SmallServer } from '#telemetry/http-server.ts';
import { startUiProxy, type UiProxyProblem } from '#temporal/ui-proxy.ts';

const OWN = 'http://localhost:8233';

let ui: Server;
let proxy: SmallServer;
let seen: { method: string | undefined; url: string | undefined; body: string }[];
let problems: UiProxyProblem[];

beforeEach(async () => {
  seen = [];
  problems = [];
  ui = createServer((request, response) => {
    const answer = async () => {
      seen.push({ method: request.method, url: request.url, body: await text(request) });
      response.writeHead(200, { 'Content-Type': 'text/html', 'Set-Cookie': '_csrf=x' });
      response.end(`the UI, asked for ${request.headers.host}`);
    };
    void answer();
  });
  const port = await listen(ui, { host: '127.0.0.1', port: 0 });
  proxy = await startUiProxy({
    host: '127.0.0.1',
    port: 0,
    target: `http://127.0.0.1:${port}`,
    origins: [OWN, 'http://127.0.0.1:8233'],
    onProblem: (problem) => void problems.push(problem),
  });
});
afterEach(async () => {
  await proxy.close();
  await close(ui, 'all');
});

async function ask(headers: Record<string, string>, method = 'GET', path = '/', body?: string) {
  return new Promise<{ status: number | undefined; text: string; headers: IncomingMessage['headers'] }>(
    (resolve, reject) => {
      const call = httpRequest({ host: '127.0.0.1', port: proxy.port, method, path, headers }, (answer) => {
        const { statusCode: status, headers: answered } = answer;
        text(answer).then((content) => resolve({ status, text: content, headers: answered }), reject);
      });
      call.on('error', reject);
      call.end(body);
    },
  );
}

describe('the proxy of the Temporal UI', () => {
  it('forwards requests for its own addresses with their bodies, and returns the answers', async () => {
    for (const host of ['localhost:8233', '127.0.0.1:8233', 'LOCALHOST:8233']) {
      const headers = { 'set-cookie': ['_csrf=x'] };
      expect(await ask({ host })).toMatchObject({ status: 200, text: `the UI, asked for ${host}`, headers });
    }
    const fetched = { host: 'localhost:8233', origin: OWN, 'sec-fetch-site': 'same-origin' };
    expect((await ask(fetched, 'POST', '/api/v1/x?y=1', '{"a":1}')).status).toBe(200);
    expect(seen.at(-1)).toEqual({ method: 'POST', url: '/api/v1/x?y=1', body: '{"a":1}' });
    expect(problems).toEqual([]);
  });

  it.each([
    'evil.example:8233',
    'evil.example',
    'localhost',
    'localhost:8234',
    '127.0.0.1.evil.example:8233',
    '[::1]:8233',
  ])('refuses a request for the host %j, with the address to open', async (host) => {
    const answer = await ask({ host });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain(OWN);
    expect(seen).toEqual([]);
    expect(problems).toEqual([{ what: 'host', detail: host }]);
  });

  it.each([
    [{ origin: 'http://evil.example' }, 'POST'],
    [{ origin: 'null' }, 'POST'],
    [{ origin: 'http://localhost:8234' }, 'DELETE'],
    [{ 'sec-fetch-site': 'cross-site' }, 'POST'],
    [{ 'sec-fetch-site': 'same-site' }, 'PUT'],
  ])('refuses the request of another page: %j %s', async (headers, method) => {
    expect((await ask({ host: 'localhost:8233', ...headers }, method)).status).toBe(403);
    expect(seen).toEqual([]);
    expect(problems.map(({ what }) => what)).toEqual(['origin']);
  });

  it('calls only the UI, independent of the request line', async () => {
    const paths = ['//evil.example/', 'http://evil.example/x', '/\\evil.example'];
    for (const path of paths) expect((await ask({ host: 'localhost:8233' }, 'GET', path)).text).toContain('the UI');
    expect(seen.map(({ url }) => url)).toEqual(paths);
  });

  it('answers 502 while the UI is down', async () => {
    await close(ui, 'all');
    expect((await ask({ host: 'localhost:8233' })).status).toBe(502);
    expect(problems.map(({ what }) => what)).toEqual(['unreachable']);
  });
});
