import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changesDocument, changesHead } from '#scripts/api-changes/changes-document.ts';
import { comparableDocument, fingerprint } from '#scripts/api-changes/comparable-document.ts';
import { apiDocument } from '#scripts/api/api-document.ts';
import { PROJECT } from '#test/support/compose.ts';

const read = (name: string) => readFileSync(join(PROJECT, 'docs/reference', name), 'utf8');
const compared = { from: 'a', to: 'b' };

describe('docs/reference/api-changes.md', () => {
  it('compares the recorded description with the present one; otherwise run `npm run generate:api-changes`', async () => {
    const from = fingerprint(JSON.parse(read('openapi-recorded.json')));
    const to = fingerprint(comparableDocument(await apiDocument()));
    expect(read('api-changes.md').startsWith(changesHead({ from, to }))).toBe(true);
  });
});

describe('the changelog of the API', () => {
  const change = { text: 'removed `a`', id: 'removed', level: 3, operation: 'GET', path: '/v1/orders' };

  it('names a difference once, with its calls', () => {
    const calls = ['/1', '/2', '/3', '/4', '/5', '/6', '/7'].map((path) => ({ ...change, path }));
    expect(changesDocument([...calls, ...calls], compared)).toContain(
      '- removed `a`: `GET /1`, `GET /2`, `GET /3`, `GET /4`, `GET /5` and 2 more\n',
    );
  });

  it('counts new values in answers as compatible, as the policy promises, and new ones in requests as oasdiff does', () => {
    const [must = '', may = ''] = changesDocument(
      [
        { ...change, text: 'new status', id: 'response-property-enum-value-added' },
        { ...change, text: 'less', id: 'request-property-enum-value-removed' },
        { ...change, text: 'more', id: 'new-optional-request-property', level: 1 },
      ],
      compared,
    ).split('## Compatible changes');
    expect([
      must.includes('less'),
      must.includes('new status'),
      may.includes('new status'),
      may.includes('more'),
    ]).toEqual([true, false, true, true]);
  });
});

describe('the comparable description', () => {
  const of = (schema: object) => fingerprint(comparableDocument({ components: { schemas: { A: schema } } }));

  it('does not depend on sentences, examples and the form of a set', () => {
    const set = { type: 'string', enum: ['a', 'b'] };
    expect(of({ ...set, description: 'D', example: 'a' })).toBe(of(set));
    expect(of({ type: 'string', 'x-extensible-enum': ['a', 'b'] })).toBe(of(set));
    expect(of({ type: ['string', 'null'] })).toBe(of({ anyOf: [{ type: 'string' }, { type: 'null' }] }));
  });

  it('depends on values, types and fields, also on one with the name of a keyword', () => {
    const set = { type: 'string', enum: ['a', 'b'] };
    expect(of({ ...set, enum: ['a'] })).not.toBe(of(set));
    const fields = (properties: object) => of({ type: 'object', properties });
    expect(fields({ description: { type: 'string' } })).not.toBe(fields({}));
    expect(fields({ description: { type: 'string' } })).not.toBe(fields({ description: { type: 'integer' } }));
  });
});
