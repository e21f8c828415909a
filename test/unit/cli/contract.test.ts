import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DataFolderLock } from '#cli/data-folder/data-folder.ts';
import { writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { assumptionsDocument } from '#cli/service/assumptions.ts';
import { checkContractFile, COMPATIBLE, NO_DOCUMENT, NOT_COMPATIBLE } from '#cli/service/contract.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';
import { CAPABILITIES } from '#domain/service/capability-profile.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { captured } from '#test/support/cli-output.ts';
import { PROJECT } from '#test/support/compose.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { CALL_MARKS, ENDPOINTS, EVENT_KINDS } from '#upstream/contract.ts';
import type { Variants } from '#upstream/contract/variants.ts';

function fileOf(content: unknown): string {
  const file = join(temporaryFolder('contract'), 'openapi.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function run(
  file: string | undefined,
  options: Parameters<typeof checkContractFile>[1] = {},
  environment: Record<string, string> = {},
) {
  const [stdout, stderr] = [captured(), captured()];
  const code = await checkContractFile(file, options, environment, { stdout, stderr }).catch((error: unknown) => {
    if (error instanceof UserError) return report(error, stderr);
    throw error;
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

describe('reseller contract check', () => {
  it('reports each call of our own contract as matching, and exits with 0', async () => {
    const { code, stdout, stderr } = await run(fileOf(contractOpenApi()));
    expect({ code, stderr }).toEqual({ code: COMPATIBLE, stderr: '' });
    expect(stdout).toMatch(/^Reseller interface 1 \(OpenAPI 3\.1\.0\)$/m);
    expect(stdout).toMatch(/^✔ POST \/orders$/m);
    expect(stdout).toMatch(/^✔ event refund\.completed$/m);
    expect(stdout).toMatch(/^27 calls: 27 match, 0 differ, 0 missing, 0 switched off; 14 of 14 events described\.$/m);
    expect(stdout).toMatch(/^Compatible: the document has everything that we need\.$/m);
  });

  it('lists differences below their call, with similar names, and exits with 1', async () => {
    const document = contractOpenApi();
    const properties = { package_id: { type: 'integer' }, order_reference: { type: 'string' } };
    const requestBody = { content: { 'application/json': { schema: { type: 'object', properties } } } };
    Object.assign(document.paths['/orders']?.['post'] ?? {}, { requestBody, parameters: [] });
    const { code, stdout } = await run(fileOf(document));
    expect(code).toBe(NOT_COMPATIBLE);
    expect(stdout).toContain(
      [
        '✘ POST /orders',
        '    ✘ header Idempotency-Key is missing',
        '    ✘ request: external_order_id is missing; did you mean order_reference?',
        '    note: request: device_imei is missing there; we send it in some requests',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^Not compatible\. Buy nothing before the causes of the differences are known\.$/m);
  });

  it('prints the report as JSON', async () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/refunds');
    const { code, stdout } = await run(fileOf(document), { json: true });
    expect(code).toBe(NOT_COMPATIBLE);
    const list = { name: 'listRefunds', method: 'GET', path: '/refunds' };
    expect(JSON.parse(stdout)).toMatchObject({
      compatible: false,
      switch_off: ['refund_list'],
      calls: expect.arrayContaining([
        { ...list, status: 'missing', capability: 'refund_list', findings: [expect.anything()] },
        { name: 'createOrder', method: 'POST', path: '/orders', status: 'matches', findings: [] },
      ]),
    });
  });

  it.each([
    ['no file', join(temporaryFolder('contract'), 'nothing.json'), 'cannot be read (ENOENT)'],
    ['a folder', temporaryFolder('contract'), 'cannot be read (EISDIR)'],
    ['YAML', fileOf('openapi: 3.1.0\n'), 'is not JSON'],
    ['Swagger 2', fileOf({ swagger: '2.0', paths: {} }), 'is a Swagger 2 document'],
  ])('exits with 2 and the reason for %s', async (_name, file, reason) => {
    const { code, stdout, stderr } = await run(file);
    expect({ code, stdout }).toEqual({ code: NO_DOCUMENT, stdout: '' });
    expect(stderr).toContain(`${file} ${reason}`);
    expect(stderr).toContain('--download gets it from the service');
  });
});

describe('reseller contract check --download', () => {
  const environmentOf = (origin: string) => ({
    SERVICE_BASE_URL: `${origin}${BASE_PATH}`,
    SERVICE_EMAIL: 'shop@example.com',
    SERVICE_PASSWORD: 'secret-password',
  });

  it('downloads the document into the file, with a token if the service requires one', async () => {
    const document = contractOpenApi();
    await using server = await startRawServer({
      onRequest: ({ head, socket }) => {
        const [, target = ''] = head.split(' ');
        if (target.endsWith('/login')) socket.write(httpAnswer(200, JSON.stringify({ access_token: 'token-1' })));
        else if (!head.includes('Bearer token-1')) socket.write(httpAnswer(401, '{}'));
        else socket.write(httpAnswer(200, JSON.stringify(document)));
      },
    });
    const file = join(temporaryFolder('contract'), 'service.json');
    for (const named of [file, undefined]) {
      const downloaded = await run(named, { download: true }, environmentOf(server.origin));
      expect(downloaded).toMatchObject({ code: COMPATIBLE, stderr: '' });
    }
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(document);
    expect((await run(undefined)).stderr).toContain('No file is named.');
    expect(server.requests.slice(0, 3).map(({ head }) => head.split(' ')[1])).toEqual(
      ['openapi.json', 'login', 'openapi.json'].map((name) => `${BASE_PATH}/sandbox/${name}`),
    );
  });

  it('exits with 2 and the reason, and keeps the old file, without a document from the service', async () => {
    await using server = await startRawServer({ onRequest: ({ socket }) => socket.write(httpAnswer(404, '<html>')) });
    const file = fileOf('what was there before');
    const { code, stderr } = await run(file, { download: true }, environmentOf(server.origin));
    expect(code).toBe(NO_DOCUMENT);
    expect(stderr).toContain('The OpenAPI document could not be downloaded. The service answered 404.');
    expect(readFileSync(file, 'utf8')).toBe('what was there before');
    const without = { ...environmentOf(server.origin), SERVICE_MISSING_CAPABILITIES: 'openapi_download' };
    const off = await run(file, { download: true }, without);
    expect(off).toMatchObject({ code: NO_DOCUMENT, stderr: expect.stringContaining('SERVICE_MISSING_CAPABILITIES') });
    for (const said of [stderr, off.stderr]) expect(said).toContain('by hand, and run the command without --download');
  });

  it('uses the configuration of the `npm start` on .data, unless the environment names the service', async () => {
    await using server = await startRawServer({
      onRequest: ({ socket }) => socket.write(httpAnswer(200, JSON.stringify(contractOpenApi()))),
    });
    const folder = temporaryFolder('contract');
    const data = join(folder, '.data');
    mkdirSync(data);
    const lock = await DataFolderLock.acquire(data, () => undefined);
    const running = { variables: environmentOf(server.origin), setByStart: [] };
    writeSecretFile(join(data, 'environment.json'), JSON.stringify(running));
    const args = [join(PROJECT, 'cli/reseller.mjs'), 'contract', 'check', 'service.json', '--download'];
    const reseller = (environment: Record<string, string> = {}) =>
      promisify(execFile)(process.execPath, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], ...environment },
      });
    const { stdout, stderr } = await reseller();
    expect(stdout).toMatch(/^Compatible/m);
    expect(stderr).toBe('Works on the `npm start` of .data.\n');
    await expect(reseller({ SERVICE_BASE_URL: 'http://127.0.0.1:1/api' })).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/SERVICE_EMAIL is missing[^]*`npm start` runs on \.data: add `--data \.data`/),
    });
    lock.release();
    await expect(reseller()).rejects.toMatchObject({ code: 78, stderr: expect.not.stringContaining('--data') });
  });

  it('requires the settings of the service, and lists all missing ones', async () => {
    await expect(run('unused.json', { download: true })).rejects.toThrow(
      /SERVICE_BASE_URL is missing[^]*SERVICE_EMAIL is missing[^]*SERVICE_PASSWORD is missing/,
    );
  });
});

const FILE = join(PROJECT, 'upstream/contract/variants.ts');
// As entered in the file: the tests use the usual terms.
const { VARIANTS: entered }: { VARIANTS: Variants } = await import(`${FILE}?entered`);
const document = assumptionsDocument(entered);
const rowsOf = (title: string): string[] => {
  const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
};

describe('reseller contract assumptions', () => {
  it('has a row for each call, with its two marks, and its reason', () => {
    const rows = rowsOf('Calls');
    expect(rows).toHaveLength(Object.keys(ENDPOINTS).length);
    for (const { method, path, mark, reason } of Object.values(ENDPOINTS)) {
      const { request, response } = CALL_MARKS[mark];
      const row = rows.find((line) => line.startsWith(`| \`${method} ${path}\` | ${request} | ${response} |`));
      expect(row, `${method} ${path}`).toContain(reason);
    }
  });

  it('has a row for each event and each capability', () => {
    expect(rowsOf('Events').map((row) => row.split('`')[1])).toEqual([...EVENT_KINDS]);
    expect(rowsOf('Capabilities').map((row) => row.split('`')[1])).toEqual(Object.keys(CAPABILITIES));
  });

  it('marks a field as needed only when its absence would be contract drift', () => {
    const cellsOf = (call: string) =>
      rowsOf('Fields')
        .find((row) => row.startsWith(`| \`${call}\``))
        ?.split(' | ');
    expect(cellsOf('POST /orders')?.slice(1, 4)).toEqual([
      '`package_id`, `external_order_id`',
      '`device_imei`',
      '`id`, `status`',
    ]);
    expect(cellsOf('POST /esims/{id}/cancel')?.[3]).toBe('`esim_id`, `status`');
  });
});
