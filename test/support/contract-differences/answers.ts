import { breaking, note, type Difference } from '#test/support/contract-differences/draft.ts';
import type { BodyName, Schema } from '#test/support/contract-openapi.ts';

const text = (constraint: Schema = {}): Schema => ({ type: 'string', ...constraint });

/** A field of an answer with another schema. @param path of the object with the field, inside the body. */
function field(name: string, body: BodyName, of: string, schema: Schema, path = ''): Difference {
  const [call = ''] = body.split(' ');
  const at = path === '' ? of : `${path}.${of}`;
  return breaking(name, `${call} ${at}`, (draft) => draft.set(body, of, schema, path));
}

/** A list with these fields about its pages in place of a cursor. */
function paged(name: string, fields: Schema): Difference {
  return note(name, 'listOrders', (draft) => {
    const properties = draft.fields('listOrders answer');
    Reflect.deleteProperty(properties, 'next_cursor');
    Object.assign(properties, fields);
  });
}

const WHOLE: Schema = { type: 'integer' };

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
  field('the token may be null', 'login answer', 'access_token', { oneOf: [text(), { type: 'null' }] }),
  field('the balance may be null by a reference', 'getWallet answer', 'balance', { allOf: [text()], nullable: true }),
  field('the states of a subscription are numbers', 'getVpnSubscription answer', 'status', { type: 'integer' }),
  field(
    'a movement may be a hold',
    'listWalletTransactions answer',
    'type',
    text({
      enum: ['debit', 'credit', 'hold'],
    }),
    'data[]',
  ),
  field('a price is in cents', 'listPackages answer', 'price_for_reseller', { type: 'integer' }, 'data[]'),
  field('the balance is in steps of 1', 'getWallet answer', 'balance', { type: 'number', multipleOf: 1 }),
  field(
    'an amount is text without decimals',
    'listWalletTransactions answer',
    'amount',
    text({
      pattern: String.raw`^-?\d+$`,
    }),
    'data[]',
  ),
  field(
    'a price has a comma',
    'listTopupOptions answer',
    'price_for_reseller',
    text({
      pattern: String.raw`^\d+,\d{2}$`,
    }),
    'data[]',
  ),
  field(
    'a price names its currency',
    'listVpnPlans answer',
    'price_for_reseller',
    text({
      pattern: String.raw`^\d+\.\d{2} [A-Z]{3}$`,
    }),
    'data[]',
  ),
  field(
    'a price is an object of unknown fields',
    'listPackages answer',
    'price_for_reseller',
    {
      type: 'object',
      properties: { net: { type: 'number' }, gross: { type: 'number' } },
    },
    'data[]',
  ),
  field('the currency is a sign', 'getWallet answer', 'currency', text({ enum: ['$', '€'] })),
  field('the currency is a numeric code', 'listPackages answer', 'currency', text({ pattern: '^[0-9]{3}$' }), 'data[]'),
  ...Object.entries({
    'ends with another letter': text({ pattern: '^[0-9]{19}X$' }),
    'has 12 digits': text({ pattern: '^[0-9]{12}$' }),
  }).map(([what, schema]) =>
    note(`the ICCID ${what}`, 'getEsim iccid', (draft) => draft.set('getEsim answer', 'iccid', schema)),
  ),
  field('the activation code is a link', 'getEsim answer', 'activation_code', text({ pattern: '^https://' })),
  field('the activation code is a picture', 'getEsim answer', 'activation_code', text({ format: 'byte' })),
  field(
    'the activation code is only the matching id',
    'getEsim answer',
    'activation_code',
    text({
      pattern: '^[A-Z0-9-]{4,32}$',
    }),
  ),
  field('ids have 200 characters', 'getOrder answer', 'id', text({ minLength: 200 })),
  field('ids have spaces', 'getRefund answer', 'id', text({ pattern: '^[A-Z]+ [0-9]+$' })),
  field('times are days', 'listWalletTransactions answer', 'created_at', text({ format: 'date' }), 'data[]'),
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
  note('an order is never failed', 'getOrder status', (draft) => {
    draft.set('getOrder answer', 'status', text({ enum: ['processing', 'completed'] }));
  }),
  note('countries may be null', 'listPackages data[].countries', (draft) => {
    draft.set('listPackages answer', 'countries', { type: ['array', 'null'] }, 'data[]');
  }),
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
