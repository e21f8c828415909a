/** The check of a service with other names of query parameters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { checkContract } from '#upstream/contract-check.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

const OTHER_NAMES = { external_order_id: 'reference', limit: 'per_page' };
beforeAll(() => void Object.assign(VARIANTS.parameters, OTHER_NAMES));
afterAll(() => {
  for (const name of Object.keys(OTHER_NAMES)) Reflect.deleteProperty(VARIANTS.parameters, name);
});

function findings(draft: Draft) {
  const { calls } = checkContract(draft.document, ALL_CAPABILITIES);
  return calls.find(({ name }) => name === 'listOrders')?.findings;
}

describe('a query parameter that is not sent', () => {
  beforeAll(() => void Object.assign(VARIANTS.parameters, { cursor: null }));
  afterAll(() => void Reflect.deleteProperty(VARIANTS.parameters, 'cursor'));

  it('is a note, whatever the document has, and breaking where the service requires it', () => {
    const draft = new Draft();
    const cursor = draft.parameter('listOrders', 'cursor');
    const named = () => findings(draft)?.filter(({ name }) => name === 'query cursor');
    const note = {
      severity: 'note',
      part: 'parameters',
      name: 'query cursor',
      message: 'is not sent (`parameters` in upstream/contract/variants.ts)',
    };
    expect(named()).toEqual([note]);
    cursor.required = true;
    expect(named()).toEqual([
      {
        severity: 'breaking',
        part: 'parameters',
        name: 'query cursor',
        message: 'is required there, and we do not always send it',
      },
      note,
    ]);
  });
});

describe('a query parameter with another name at the service', () => {
  it('is compared with that name', () => {
    const draft = new Draft();
    draft.parameter('listOrders', 'external_order_id').name = 'reference';
    const limit = draft.parameter('listOrders', 'limit');
    limit.name = 'per_page';
    limit.required = true;
    expect(findings(draft)).toEqual([]);
  });

  it('is missing when the document has our name', () => {
    expect(findings(new Draft())).toContainEqual({
      severity: 'breaking',
      part: 'parameters',
      name: 'query reference',
      message: 'is missing, and is needed for finding an order whose answer was lost',
    });
  });
});
