/** The check of a service that has other names for query parameters. */
import { describe, expect, it, vi } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capabilities.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { checkContract } from '#upstream/contract-check.ts';
import type * as Variants from '#upstream/contract/variants.ts';

vi.mock('#upstream/contract/variants.ts', async (original) => {
  const real = await original<typeof Variants>();
  return { ...real, VARIANTS: { ...real.VARIANTS, parameters: { external_order_id: 'reference', limit: 'per_page' } } };
});

function findings(draft: Draft) {
  const { calls } = checkContract(draft.document, ALL_CAPABILITIES);
  return calls.find(({ name }) => name === 'listOrders')?.findings;
}

describe('a query parameter that has another name at the service', () => {
  it('is compared under that name', () => {
    const draft = new Draft();
    draft.parameter('listOrders', 'external_order_id').name = 'reference';
    const limit = draft.parameter('listOrders', 'limit');
    limit.name = 'per_page';
    limit.required = true;
    expect(findings(draft)).toEqual([]);
  });

  it('is missing where the document has our name', () => {
    expect(findings(new Draft())).toContainEqual({
      severity: 'breaking',
      part: 'parameters',
      name: 'query reference',
      message: 'is missing, and is needed for finding an order whose answer was lost',
    });
  });
});
