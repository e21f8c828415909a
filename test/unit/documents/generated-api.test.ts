import { describe, expect, it } from 'vitest';
import { documentFiles, staleFiles } from '#scripts/api/generate-api.ts';

const files = await documentFiles();

describe('the files generated from the API description', () => {
  it('are up to date; otherwise run `npm run generate:api`', () => {
    expect(staleFiles(files)).toEqual([]);
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
});
