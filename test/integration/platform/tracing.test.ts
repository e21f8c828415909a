import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { startRecordingProxy } from '#test/support/network/recording-proxy.ts';
import { SpanReceiver, type ReceivedSpan } from '#test/support/network/span-receiver.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { foundIn } from '#test/support/plain-text.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';

const IMEI = '490154203237518';
const CUSTOMER = `canary-customer-${randomUUID()}`;
const COLLECTOR_KEY = `canary-collector-${randomUUID()}`;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/;

/** Prints each package of the SDK that a process loads. */
const REPORT_SDK = `--import=data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
   registerHooks({ resolve(name, context, next) {
     if (/@opentelemetry\\/(sdk|exporter)/.test(name)) process._rawDebug('LOADS ' + name);
     return next(name, context);
   } });`,
)}`;

type Traced = Awaited<ReturnType<typeof startTraced>>;

/** The product behind a proxy to the service, with an endpoint for all events of orders. */
async function startTraced(environment: Readonly<Record<string, string>>) {
  const hooks = await WebhookReceiver.start();
  const simulator = { SIMULATOR_PROCESSING_DELAY: '200ms' };
  const stack = await startStack({ start: ['simulator'], environment: RARE_UPKEEP, simulator });
  const proxy = await startRecordingProxy(() => stack.simulator.baseUrl);
  const more = { ...environment, SERVICE_BASE_URL: `${proxy.origin}${BASE_PATH}`, NODE_OPTIONS: REPORT_SDK };
  await Promise.all([stack.start('api', more), stack.start('worker', more)]);
  const wanted = { url: hooks.url, event_types: ['order.*'] };
  const made = await postOnce(stack.api, '/v1/webhook-endpoints', wanted);
  expect(made.status, made.text).toBe(201);
  return {
    stack,
    proxy,
    hooks,
    [Symbol.asyncDispose]: async () => {
      await stack.stop();
      await proxy[Symbol.asyncDispose]();
      await hooks[Symbol.asyncDispose]();
    },
  };
}

/** A `traceparent` as a shop sends it. */
function callersTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` };
}

/** Buys an eSIM that the service completes by webhook, and waits for the event that tells the shop. */
async function buy({ stack, hooks }: Traced, headers: Readonly<Record<string, string>>) {
  const bought = { package_id: PACKAGE.processingThenCompleted, external_order_id: `ext-${randomUUID()}` };
  const body = { ...bought, device_imei: IMEI, customer_reference: CUSTOMER };
  const placed = await postOnce(stack.api, '/v1/orders', body, randomUUID(), headers);
  expect(placed.status, placed.text).toBe(202);
  const id = placed.textAt('id');
  const order = await stack.orderReaches(id, ['completed']);
  const told = await waitFor(`the webhook about the end of ${id}`, () =>
    hooks.received.find(({ bytes }) => bytes.includes(id) && bytes.includes('"order.completed"')),
  );
  return { id, order, told };
}

const line = z.looseObject({ workId: z.string().optional(), traceId: z.string().optional() });

function linesAbout({ stack }: Traced, id: string) {
  const lines = (['api', 'worker'] as const).flatMap((name) => stack.process(name).output().trim().split('\n'));
  return lines
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
    .map((text) => line.parse(JSON.parse(text)))
    .filter(({ workId }) => workId === id);
}

/** The value of the header on the calls that bought. */
const sentPurchases = ({ proxy }: Traced) =>
  proxy.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/orders'));

describe('a traced product', () => {
  let receiver: SpanReceiver;
  let product: Traced;
  beforeAll(async () => {
    receiver = await SpanReceiver.start();
    product = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${COLLECTOR_KEY}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
  });
  afterAll(async () => {
    await product[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  /** Waits until a trace has all of these names, and every parent but the caller's span. */
  async function wholeTrace(traceId: string, callersSpan: string, names: readonly string[]): Promise<ReceivedSpan[]> {
    return waitFor(`the whole trace ${traceId}`, () => {
      const spans = receiver.trace(traceId);
      const known = new Set([callersSpan, ...spans.map(({ span_id }) => span_id)]);
      const missing = names.filter((name) => !spans.some((span) => span.name === name));
      const orphans = spans.filter(({ parent_span_id: parent }) => !known.has(parent)).map(({ name }) => name);
      if (missing.length > 0 || orphans.length > 0) throw new Error(JSON.stringify({ missing, orphans }));
      return spans;
    });
  }

  it('has one trace from the request of the caller to the event that tells the end', async () => {
    const caller = callersTrace();
    const { id, told } = await buy(product, { traceparent: caller.header });
    const spans = await wholeTrace(caller.traceId, caller.spanId, [
      'POST /v1/orders',
      'StartWorkflow:order',
      'RunActivity:beginWork',
      'POST /orders',
      'SignalWorkflow:order',
      'POST webhook',
    ]);

    const named = (name: string) => spans.filter((span) => span.name === name);
    const byId = new Map(spans.map((span) => [span.span_id, span]));
    const parentOf = (span: ReceivedSpan | undefined) => byId.get(span?.parent_span_id ?? '')?.name;
    const ofCaller = spans.filter(({ parent_span_id }) => parent_span_id === caller.spanId);
    expect(ofCaller.map(({ name }) => name)).toEqual(['POST /v1/orders']);
    expect(named('POST /v1/orders')[0]).toMatchObject({
      kind: 'SPAN_KIND_SERVER',
      service: 'reseller-api',
      attributes: { 'http.route': '/v1/orders', 'http.response.status_code': '202' },
    });
    expect(parentOf(named('StartWorkflow:order')[0])).toBe('POST /v1/orders');
    expect(parentOf(named('RunActivity:beginWork')[0])).toBe('StartWorkflow:order');
    const [purchase] = named('POST /orders');
    expect(parentOf(purchase)).toBe('RunActivity:beginWork');
    expect(purchase).toMatchObject({
      kind: 'SPAN_KIND_CLIENT',
      service: 'reseller-worker',
      attributes: { 'reseller.service.call': 'createOrder', 'reseller.attempt': '1', 'reseller.send': '1' },
    });

    // The service gets the trace beside the stored key and bytes.
    const sent = sentPurchases(product).find(({ headers }) => headers['traceparent']?.includes(caller.traceId));
    expect(sent?.headers['traceparent']).toBe(`00-${caller.traceId}-${purchase?.span_id}-01`);
    expect(sent?.headers['idempotency-key']).toBeDefined();

    // Its webhook begins a trace of its own, which the signal to the workflow links.
    const [link] = named('SignalWorkflow:order')[0]?.links ?? [];
    const webhook = await waitFor('the span of the webhook', () =>
      receiver.spans.find(({ span_id }) => span_id === link?.span_id),
    );
    expect(webhook).toMatchObject({ name: 'POST /webhooks/service', service: 'reseller-api' });

    const [, traceId, spanId] = TRACEPARENT.exec(told.headers['traceparent'] ?? '') ?? [];
    expect(traceId).toBe(caller.traceId);
    const delivery = await waitFor('the span of the delivery', () =>
      receiver.trace(caller.traceId).find(({ span_id }) => span_id === spanId),
    );
    expect(delivery.attributes).toMatchObject({ 'reseller.event.type': 'order.completed' });
    expect(parentOf(delivery)).toBe('POST /v1/orders');

    const lines = linesAbout(product, id);
    expect(lines.length).toBeGreaterThan(4);
    for (const each of lines) expect(each).toMatchObject({ traceId: caller.traceId });
    expect(receiver.headers).toMatchObject({ 'x-api-key': COLLECTOR_KEY });
  });

  it('exports no secret and no personal data', async () => {
    const { stack } = product;
    const caller = callersTrace();
    const { order } = await buy(product, { traceparent: caller.header, baggage: `customer=${CUSTOMER}` });
    const activation = await stack.api.get(`/v1/esims/${order.textAt('esim_id')}/activation`);
    const code = activation.textAt('activation_code');
    const last = callersTrace();
    const headers = { traceparent: last.header };
    const searched = await stack.api.get(`/v1/orders?customer_reference=${CUSTOMER}`, { headers });
    expect(searched.status).toBe(200);
    await stack.api.get(`/v1/nothing/${CUSTOMER}?customer=${CUSTOMER}`);
    const failed = await stack.api.post('/v1/orders', { package_id: CUSTOMER }, {});
    expect(failed.status).toBeGreaterThanOrEqual(400);
    await wholeTrace(caller.traceId, caller.spanId, ['POST /v1/orders', 'POST webhook', 'POST /orders']);
    await wholeTrace(last.traceId, last.spanId, ['GET /v1/orders']);

    const exported = Buffer.concat(receiver.bytes).toString('latin1');
    // The control: what is expected in plain text is found.
    expect(exported).toContain('RunActivity:beginWork');
    const { requests } = product.proxy;
    const tokens = requests.flatMap(({ headers }) => headers.authorization?.slice('Bearer '.length) ?? []);
    expect(tokens.length).toBeGreaterThan(0);
    const secrets = {
      IMEI,
      CUSTOMER,
      COLLECTOR_KEY,
      activationCode: code,
      matchingId: code.split('$')[2] ?? '',
      iccid: activation.textAt('iccid'),
      apiKey: stack.apiKey,
      webhookSecret: stack.webhookSecret,
      password: 'simulator-password',
      email: stack.environments.worker['SERVICE_EMAIL'] ?? '',
      token: tokens[0] ?? '',
      encryptionKey: (stack.environments.worker['ENCRYPTION_KEYS'] ?? '').split(':')[1] ?? '',
    };
    expect(Object.values(secrets).every((secret) => secret.length > 8)).toBe(true);
    expect(foundIn(exported, secrets)).toEqual([]);
  });

  it('ignores an invalid traceparent and begins a trace', async () => {
    const traceparent = callersTrace().header.toUpperCase();
    const { id, told } = await buy(product, { traceparent, tracestate: 'shop=canary', baggage: 'shop=canary' });
    const [, traceId] = TRACEPARENT.exec(told.headers['traceparent'] ?? '') ?? [];
    expect(traceId).toBeDefined();
    expect(traceparent).not.toContain(traceId);
    for (const each of linesAbout(product, id)) expect(each).toMatchObject({ traceId });
    for (const { headers } of [...product.proxy.requests, told]) {
      expect(headers).not.toHaveProperty('tracestate');
      expect(headers).not.toHaveProperty('baggage');
    }
  });

  it('hands on a trace that the caller does not sample, and exports none of its spans', async () => {
    const unsampled = callersTrace('00');
    const { told } = await buy(product, { traceparent: unsampled.header });
    expect(told.headers['traceparent']).toMatch(new RegExp(`^00-${unsampled.traceId}-[0-9a-f]{16}-00$`));
    const sampled = callersTrace();
    await buy(product, { traceparent: sampled.header });
    await wholeTrace(sampled.traceId, sampled.spanId, ['POST webhook']);
    expect(receiver.trace(unsampled.traceId)).toEqual([]);
  });

  it('exports the last spans when it stops', async () => {
    const caller = callersTrace();
    const answer = await product.stack.api.get('/v1/account', { headers: { traceparent: caller.header } });
    expect(answer.status).toBeLessThan(500);
    await product.stack.process('api').stop();
    expect(receiver.trace(caller.traceId)).toHaveLength(1);
    expect(product.stack.process('api').output()).toContain('LOADS @opentelemetry/sdk-trace');
  });
});

describe('a product without tracing', () => {
  it('loads no SDK, hands nothing on and logs no trace id', async () => {
    await using product = await startTraced({});
    const { id, told } = await buy(product, { traceparent: callersTrace().header });
    expect(sentPurchases(product)).toHaveLength(1);
    for (const { headers } of [...product.proxy.requests, told]) expect(headers).not.toHaveProperty('traceparent');
    const lines = linesAbout(product, id);
    expect(lines.length).toBeGreaterThan(4);
    for (const each of lines) expect(each).not.toHaveProperty('traceId');
    for (const name of ['api', 'worker'] as const) expect(product.stack.process(name).output()).not.toContain('LOADS');
  });
});
