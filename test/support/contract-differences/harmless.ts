import {
  field as change,
  harmless,
  note,
  text,
  type Difference,
  type Draft,
  type Place,
} from '#test/support/contract-differences/draft.ts';
import { describeHeaders, headersOf } from '#test/support/contract-differences/interface.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

const field = (name: string, at: Place, schema: Schema) => harmless(name, change('answer', at, schema));

/** The answer to an order is described under other names of responses. */
const answered = (name: string, responsesOf: (body: unknown) => Schema) =>
  harmless(`an order is answered with ${name}`, (draft) => {
    const operation = draft.call('createOrder');
    operation['responses'] = responsesOf((operation['responses'] as Schema)['200']);
  });

/** Replaces the webhooks by one for all events. @param bodyOf makes its schema from those of the events. */
function oneWebhook(draft: Draft, bodyOf: (forms: readonly unknown[]) => Schema): void {
  const webhooks = draft.document['webhooks'] as Record<string, Schema>;
  const forms = EVENT_KINDS.map((kind) => {
    const body = structuredClone(draft.body(`event ${kind}`));
    (body['properties'] as Schema)['event'] = text({ const: kind });
    return body;
  });
  draft.media('event ping')['schema'] = bodyOf(forms);
  draft.document['webhooks'] = { notifications: webhooks['ping'] };
}

/** Differences that are not reported. */
export const HARMLESS_DIFFERENCES: readonly Difference[] = [
  harmless('it is the same', () => undefined),
  ...['201', '202', '2XX'].map((status) =>
    answered(status, (body) => ({ [status]: body, default: { description: 'No.' } })),
  ),
  answered('default', (body) => ({ default: body, '4XX': { description: 'No.' } })),
  harmless('one webhook has a form for each event', (draft) => oneWebhook(draft, (oneOf) => ({ oneOf }))),
  harmless('one webhook has a form for each event, told apart by a discriminator', (draft) => {
    oneWebhook(draft, (forms) => {
      const names = EVENT_KINDS.map((kind) => kind.replaceAll('.', '_'));
      const schemas = Object.fromEntries(forms.map((form, index) => [names[index], form]));
      const own = Object.values(schemas as Record<string, { properties: Schema }>);
      for (const { properties } of own) properties['event'] = text();
      Object.assign(draft.document, { components: { ...(draft.document['components'] as Schema), schemas } });
      const refs = names.map((name) => `#/components/schemas/${name}`);
      const mapping = Object.fromEntries(EVENT_KINDS.map((kind, index) => [kind, refs[index]]));
      return { oneOf: refs.map(($ref) => ({ $ref })), discriminator: { propertyName: 'event', mapping } };
    });
  }),
  harmless('one webhook has one body with the records of all events', (draft) => {
    oneWebhook(draft, (forms) => {
      const [, ...others] = forms as { properties: Schema }[];
      const data = others.map(({ properties: { data } }) => data);
      const properties = { event: text({ enum: [...EVENT_KINDS] }), created_at: text(), data: { oneOf: data } };
      return { type: 'object', properties, required: ['event', 'data'] };
    });
  }),
  field('a field is in anyOf', 'getOrder status', {
    anyOf: [text({ enum: ['processing', 'completed'] }), text({ enum: ['failed'] })],
  }),
  harmless('a request is in allOf of two parts', (draft) => {
    const { properties, required } = draft.body('createTopup request') as { properties: Schema; required: string[] };
    draft.media('createTopup request')['schema'] = {
      allOf: [
        { type: 'object', properties: { esim_id: properties['esim_id'] }, required },
        { type: 'object', properties: { package_id: properties['package_id'] } },
      ],
    };
  }),
  harmless('requests may have more fields', (draft) => {
    draft.fields('createOrder request')['promotion'] = text();
  }),
  harmless('a closed request has what we send', (draft) => {
    draft.object('createOrder request')['additionalProperties'] = false;
  }),
  field('ids have a prefix of the service', 'getOrder id', text({ pattern: '^order_[a-z0-9]{12}$' })),
  field('ids are numbers of 64 bits', 'getOrder id', { type: 'integer', format: 'int64' }),
  field(
    'prices are decimal texts',
    'listPackages data[].price_for_reseller',
    text({ format: 'decimal', pattern: String.raw`^\d+(\.\d{1,4})?$` }),
  ),
  harmless('prices are objects with their currency', (draft) => {
    const required = ['amount', 'currency'];
    const money = { type: 'object', properties: { amount: text(), currency: text() }, required };
    draft.set('listVpnPlans answer', 'price_for_reseller', money, 'data[]');
    draft.remove(['listVpnPlans answer'], 'currency');
  }),
  field('currencies are in lower case', 'getWallet currency', text({ enum: ['usd'] })),
  field('times are Unix times', 'listWalletTransactions data[].created_at', { type: 'integer', format: 'int64' }),
  field('states are in capitals', 'getTopup status', text({ enum: ['PROCESSING', 'COMPLETED', 'FAILED'] })),
  field('needed fields may be null for a time', 'getEsim installed_at', text({ format: 'date-time', nullable: true })),
  field(
    'the ICCID has 19 or 20 digits',
    'getEsim iccid',
    text({ pattern: String.raw`^\d{19,20}$`, minLength: 19, maxLength: 20 }),
  ),
  field(
    'the activation code begins with LPA',
    'getEsim activation_code',
    text({ pattern: String.raw`^LPA:1\$[^$]+\$` }),
  ),
  harmless(
    'a pattern is no regular expression',
    change('request', 'createOrder external_order_id', text({ pattern: '^(?<' })),
  ),
  harmless('bounds are wider than ours', (draft) => {
    draft.set('createOrder request', 'external_order_id', text({ minLength: 1, maxLength: 255 }));
    draft.set('createOrder request', 'device_imei', text({ pattern: '^[0-9]{8,20}$' }));
    draft.set('createVpnOrder request', 'customer_price', { type: 'number', minimum: 0, multipleOf: 0.001 });
    draft.parameter('listOrders', 'limit').schema = { type: 'integer', minimum: 1, maximum: 500, default: 20 };
    draft.parameter('createOrder', 'Idempotency-Key').schema = text({ minLength: 16, maxLength: 255 });
  }),
  harmless('there are more headers and filters', (draft) => {
    draft.parameters('listOrders').push({ name: 'status', in: 'query', schema: text() });
    draft.parameters('createOrder').push({ name: 'X-Request-Id', in: 'header', schema: text() });
  }),
  ...Object.entries({
    'a full address': [{ url: 'https://service.example/api/reseller/v1/' }],
    'a path': [{ url: '/api/reseller/v1' }],
    variables: [{ url: '{scheme}://{host}/api/reseller/v1', variables: { scheme: { default: 'https' } } }],
    'an unknown version': [{ url: 'https://service.example/api/reseller/{version}' }],
    'a relative address': [{ url: './' }],
    'the sandbox as well': [{ url: 'https://s.example/v2' }, { url: 'https://s.example/api/reseller/v1/sandbox' }],
  }).map(([name, servers]) =>
    harmless(`the servers are given as ${name}`, (draft) => {
      draft.document['servers'] = servers;
    }),
  ),
  note('one webhook is for all events, and its data are open', [], (draft) => {
    const names = { type: 'string', enum: [...EVENT_KINDS, 'storefront.released'] };
    const schema = { type: 'object', required: ['event', 'data'], properties: { event: names, data: {} } };
    const free = { post: { requestBody: { content: { 'application/json': { schema } } }, responses: {} } };
    draft.document['webhooks'] = { notification: free };
  }),
  harmless('webhooks have other names than their events', (draft) => {
    const webhooks = Object.entries(draft.document['webhooks'] as Schema);
    draft.document['webhooks'] = Object.fromEntries(webhooks.map(([name, item]) => [name.replaceAll('.', '_'), item]));
  }),
  harmless('the body names the event in the field type', (draft) => {
    draft.remove(['event order.completed'], 'event', 'type', () => '');
  }),
  harmless('the headers of events are described', (draft) => describeHeaders(draft, headersOf('x-service'))),
  harmless('the timestamp is an integer', (draft) => {
    describeHeaders(draft, headersOf('X-Service', { 'X-Service-Timestamp': { type: 'integer' } }));
  }),
  harmless('only other headers of events are described', (draft) => {
    describeHeaders(draft, { 'User-Agent': text(), 'Content-Type': text() });
  }),
];
