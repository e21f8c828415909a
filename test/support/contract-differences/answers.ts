import { breaking, field, note, text, type Difference, type Place } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';

/** A field of an answer with another schema. */
const differs = (name: string, at: Place, schema: Schema) => breaking(name, at, field('answer', at, schema));
const pattern = (regex: string) => text({ pattern: regex });

/** A list with these fields about its pages in place of a cursor. */
function paged(name: string, fields: Schema): Difference {
  return note(name, 'listOrders', (draft) => {
    const properties = draft.fields('listOrders answer');
    Reflect.deleteProperty(properties, 'next_cursor');
    Object.assign(properties, fields);
  });
}

const WHOLE: Schema = { type: 'integer' };
const MOVEMENT_TYPE = 'listWalletTransactions data[].type';

const PAGINGS: readonly Difference[] = [
  paged('a list has only a flag for a next page', { has_more: { type: 'boolean' } }),
  paged('pages have no number', { meta: { type: 'object', properties: { last_page: WHOLE, total: WHOLE } } }),
  paged('a list has only the number of items', { total: WHOLE }),
  note('pages are linked in a header', 'listOrders', (draft) => {
    Reflect.deleteProperty(draft.fields('listOrders answer'), 'next_cursor');
    const responses = draft.call('listOrders')['responses'] as Record<string, Schema>;
    Object.assign(responses['200'] ?? {}, { headers: { Link: { schema: text() } } });
  }),
];

/** Differences of answers that we read. */
export const ANSWER_DIFFERENCES: readonly Difference[] = [
  differs('the token may be null', 'login access_token', { oneOf: [text(), { type: 'null' }] }),
  differs('the balance may be null by a reference', 'getWallet balance', { allOf: [text()], nullable: true }),
  differs('the states of a subscription are numbers', 'getVpnSubscription status', WHOLE),
  differs('a movement may be a hold', MOVEMENT_TYPE, text({ enum: ['debit', 'credit', 'hold'] })),
  differs('a price is in cents', 'listPackages data[].price_for_reseller', WHOLE),
  differs('the balance is in steps of 1', 'getWallet balance', { type: 'number', multipleOf: 1 }),
  differs('an amount is text without decimals', 'listWalletTransactions data[].amount', pattern(String.raw`^-?\d+$`)),
  differs('a price has a comma', 'listTopupOptions data[].price_for_reseller', pattern(String.raw`^\d+,\d{2}$`)),
  differs(
    'a price names its currency',
    'listVpnPlans data[].price_for_reseller',
    pattern(String.raw`^\d+\.\d{2} [A-Z]{3}$`),
  ),
  differs('a price is an object of unknown fields', 'listPackages data[].price_for_reseller', {
    type: 'object',
    properties: { net: { type: 'number' }, gross: { type: 'number' } },
  }),
  differs('the currency is a sign', 'getWallet currency', text({ enum: ['$', '€'] })),
  differs('the currency is a numeric code', 'listPackages data[].currency', pattern('^[0-9]{3}$')),
  ...['^[0-9]{19}X$', '^[0-9]{12}$'].map((regex) =>
    note(`the ICCID is like ${regex}`, 'getEsim iccid', field('answer', 'getEsim iccid', pattern(regex))),
  ),
  differs('the activation code is a link', 'getEsim activation_code', pattern('^https://')),
  differs('the activation code is a picture', 'getEsim activation_code', text({ format: 'byte' })),
  differs('the activation code is only the matching id', 'getEsim activation_code', pattern('^[A-Z0-9-]{4,32}$')),
  differs('ids have 200 characters', 'getOrder id', text({ minLength: 200 })),
  differs('ids have spaces', 'getRefund id', pattern('^[A-Z]+ [0-9]+$')),
  differs('times are days', 'listWalletTransactions data[].created_at', text({ format: 'date' })),
  note('the access data of a read have no password', 'getVpnSubscription access.password', (draft) => {
    for (const name of ['configuration', 'licence_key'] as const)
      draft.remove(['getVpnSubscription answer'], name, undefined, () => 'access');
    draft.remove(['getVpnSubscription answer'], 'password', 'pre_shared_key', () => 'access');
  }),
  breaking('an order is XML', 'getOrder', (draft) => {
    draft.call('getOrder')['responses'] = { 200: { content: { 'application/xml': {} } } };
  }),
  breaking('an envelope has an unknown name', ['getWallet balance', 'getWallet currency'], (draft) => {
    const body = draft.body('getWallet answer');
    draft.media('getWallet answer')['schema'] = { type: 'object', properties: { body } };
  }),
  note(
    'an order is never failed',
    'getOrder status',
    field('answer', 'getOrder status', text({ enum: ['processing', 'completed'] })),
  ),
  note(
    'countries may be null',
    'listPackages data[].countries',
    field('answer', 'listPackages data[].countries', { type: ['array', 'null'] }),
  ),
  note('a list has no end mark', 'listWalletTransactions', (draft) => {
    draft.remove(['listWalletTransactions answer'], 'next_cursor', 'more_at', () => '');
  }),
  note('an order is in an envelope', 'getOrder', (draft) => {
    draft.media('getOrder answer')['schema'] = { type: 'object', properties: { data: draft.body('getOrder answer') } };
  }),
  note('orders are a bare list', 'listOrders', (draft) => {
    draft.media('listOrders answer')['schema'] = draft.fields('listOrders answer')['data'];
  }),
  breaking('an order is at the top and in data', 'getOrder', (draft) => {
    const body = draft.body('getOrder answer');
    Object.assign(draft.fields('getOrder answer'), { data: structuredClone(body) });
  }),
  breaking('a list is beside the envelope of an order', ['getOrder id', 'getOrder status'], (draft) => {
    const body = draft.body('getOrder answer');
    const properties = { data: body, result: { type: 'array', items: {} } };
    draft.media('getOrder answer')['schema'] = { type: 'object', properties };
  }),
  breaking('the document is in an envelope', ['getOpenApi openapi', 'getOpenApi paths'], (draft) => {
    const properties = { data: draft.body('getOpenApi answer') };
    draft.media('getOpenApi answer')['schema'] = { type: 'object', properties };
  }),
  ...PAGINGS,
];
