/** The check of a service with other names of query parameters. */
import { afterEach, expect, it } from 'vitest';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { breaking, findingsOf, note } from '#test/support/contract-findings.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

afterEach(() => {
  for (const name of ['external_order_id', 'limit', 'cursor']) Reflect.deleteProperty(VARIANTS.parameters, name);
});

it('a query parameter that is not sent is a note, and breaking where the service requires it', () => {
  Object.assign(VARIANTS.parameters, { cursor: null });
  const draft = new Draft();
  const named = () => findingsOf('listOrders', draft.document).filter(({ name }) => name === 'query cursor');
  const unsent = note('parameters', 'query cursor', 'is not sent (`parameters` in upstream/contract/variants.ts)');
  expect(named()).toEqual([unsent]);
  draft.parameter('listOrders', 'cursor').required = true;
  const required = breaking('parameters', 'query cursor', 'is required there, and we do not always send it');
  expect(named()).toEqual([required, unsent]);
});

it('a query parameter with another name at the service is compared with that name', () => {
  Object.assign(VARIANTS.parameters, { external_order_id: 'reference', limit: 'per_page' });
  const missing = 'is missing, and is needed for finding an order whose answer was lost';
  const ours = findingsOf('listOrders', new Draft().document);
  expect(ours).toContainEqual(breaking('parameters', 'query reference', missing));
  const draft = new Draft();
  draft.parameter('listOrders', 'external_order_id').name = 'reference';
  Object.assign(draft.parameter('listOrders', 'limit'), { name: 'per_page', required: true });
  expect(findingsOf('listOrders', draft.document)).toEqual([]);
});
