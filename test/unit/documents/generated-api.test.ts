import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentFiles, staleFiles } from '#scripts/api/generate-api.ts';
import { PROJECT } from '#test/support/compose.ts';

const files = await documentFiles();

describe('the files generated from the API description', () => {
  it('are up to date; otherwise run `npm run generate:api`', () => {
    expect(staleFiles(files)).toEqual([]);
  });

  it('are reported when they are stale', () => {
    const [path = ''] = Object.keys(files);
    expect(staleFiles({ [path]: `${files[path]} `, 'docs/reference/never-written.md': '' })).toEqual([
      path,
      'docs/reference/never-written.md',
    ]);
  });

  it('have every call in the .http collection, complete except for the variables', () => {
    const collection = files['docs/reference/api.http'] ?? '';
    const names = [...collection.matchAll(/^# @name (\w+)$/gm)].map(([, name]) => name);
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['createOrder', 'getEsimQrPng', 'listReconciliations']));
    const defined = new Set([...collection.matchAll(/^@(\w+) = /gm)].map(([, name]) => name));
    const used = [...collection.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
    expect(used.filter((name) => !defined.has(name))).toEqual([]);
    for (const [, body = ''] of collection.matchAll(/^(\{\n[^]*?^\})$/gm))
      expect(() => JSON.parse(body) as unknown).not.toThrow();
  });

  it('include a client that imports only its own files', () => {
    const sources = globSync('clients/typescript/src/*.ts', { cwd: PROJECT });
    const imports = sources.flatMap((file) =>
      [...readFileSync(join(PROJECT, file), 'utf8').matchAll(/ from '([^']+)'/g)].map(([, from]) => from),
    );
    expect(imports.length).toBeGreaterThan(5);
    expect(imports.filter((from) => !/^\.\/[a-z-]+\.ts$/.test(from ?? ''))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(PROJECT, 'clients/typescript/package.json'), 'utf8')) as object;
    // The compiler builds the package where no other one is installed.
    expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual(['devDependencies']);
  });
});
