import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PACKAGES } from '#simulator/catalogue.ts';
import type { SimulatorOptions } from '#simulator/options.ts';
import { SHAPES, shapeNames, type ShapeChoice, type ShapeName } from '#simulator/shapes/shape.ts';
import { Description, documentShape } from '#test/simulator/described.ts';
import { LOGIN, PACKAGE, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { EVENT_KINDS, serviceHeaders } from '#upstream/contract.ts';

/** A simulator with a shape. The clients logged in before, in the plain shape. */
async function startShaped(shape: Partial<ShapeChoice>, options: SimulatorOptions = {}) {
  const simulator = await startTestSimulator(options);
  const chosen = await simulator.admin.post('/shape', shape);
  if (chosen.status !== 200) throw new Error(`the shape was not taken: ${chosen.text}`);
  const document = closed((await simulator.sandbox.get('/openapi.json')).body);
  return Object.assign(simulator, { description: new Description(documentShape.parse(document)) });
}

/** A document whose objects allow only the described fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  const isOpen = 'properties' in value && !('additionalProperties' in value);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/**
 * Every kind of answer, successful and refused, and all signed webhooks. The ids are those of the admin API, because
 * answers show ids in many forms.
 */
async function callEverything(simulator: SimulatorClient) {
  const calls: { readonly method: string; readonly path: string; readonly answer: HttpAnswer }[] = [];
  const keep = (method: string, path: string, answer: HttpAnswer) => void calls.push({ method, path, answer });
  const get = async (...paths: readonly string[]): Promise<void> => {
    for (const path of paths) keep('GET', path, await simulator.sandbox.get(path));
  };
  const post = async (path: string, body?: unknown) => keep('POST', path, await simulator.sandbox.post(path, body));
  const list = z.object({ data: z.array(z.record(z.string(), z.unknown())) });
  /** Of the last item in a list. */
  const idAt = async (path: string) => String((await simulator.admin.get(path)).read(list).data.at(-1)?.['id']);

  keep('POST', '/login', await simulator.open.post('/sandbox/login', LOGIN));
  keep('POST', '/login', await simulator.open.post('/sandbox/login', { ...LOGIN, password: 'wrong' }));
  await post('/webhook-secret');
  await post('/webhook-secret/rotate');
  for (const package_id of [PACKAGE, 9003, 9004, PACKAGE])
    keep('POST', '/orders', await simulator.order({ package_id }));
  const [order, esim] = [await idAt('/orders'), await idAt('/esims')];
  await get('/packages', '/public/packages', '/vpn/plans');
  await get('/orders', `/orders/${order}`, '/wallet', '/wallet/transactions');
  keep('POST', '/topups', await simulator.topUp(esim));
  const topup = await idAt('/topups');
  await get(`/esims/${esim}`, `/esims/${esim}/usage`, `/esims/${esim}/topup-options`);
  await get(`/topups/${topup}`, '/topups', `/topups?esim_id=${esim}`);
  await get('/updates/latest?current_version=1.0&channel=stable');
  await post(`/esims/${esim}/simulate`, { state: 'active' });
  keep('POST', `/esims/${esim}/cancel`, await simulator.cancel(esim));
  await get(`/refunds/${await idAt('/refunds')}`, '/refunds');
  for (const vpn_plan_id of [393, 301]) keep('POST', '/vpn/orders', await simulator.orderVpn({ vpn_plan_id }));
  const vpn = await idAt('/vpn-subscriptions');
  await get(`/vpn/subscriptions/${vpn}`, '/vpn/subscriptions');
  await post(`/vpn/subscriptions/${vpn}/cancel`);
  await post(`/vpn/subscriptions/${vpn}/cancel`);
  keep('POST', '/orders', await simulator.order({ package_id: 'x' }));
  keep('POST', '/topups', await simulator.topUp('nobody'));
  await get('/orders/nobody', '/nothing', '/updates/latest');
  const page = z.object({ data: z.array(z.object({ event: z.string(), body: z.string() })) });
  const { data } = (await simulator.admin.get('/deliveries')).read(page);
  return { calls, webhooks: data.map(({ event, body }) => ({ event, body: JSON.parse(body) as unknown })) };
}

/** @returns the errors of answers and webhooks by a document; empty when all are described. */
function problemsWith(description: Description, { calls, webhooks }: Awaited<ReturnType<typeof callEverything>>) {
  const ofCalls = calls.flatMap(({ method, path, answer }) => {
    const verdict = description.judgeAnswer(method, path, answer);
    return verdict === 'valid' ? [] : [`${method} ${path} ${answer.status}: ${verdict}: ${answer.text}`];
  });
  const ofWebhooks = webhooks.flatMap(({ event, body }) => {
    const verdict = description.judgeWebhook(event, body);
    return verdict === 'valid' ? [] : [`${event}: ${verdict}: ${JSON.stringify(body)}`];
  });
  return [...ofCalls, ...ofWebhooks];
}

describe('in the shape', () => {
  /** The answers in the plain shape, to validate by the documents of other shapes. */
  let plain: Awaited<ReturnType<typeof callEverything>>;
  let described: Description;
  beforeAll(async () => {
    await using simulator = await startShaped({ name: 'plain' });
    described = simulator.description;
    plain = await callEverything(simulator);
  });

  it.each(shapeNames)('%s the document describes every answer, every webhook and nothing else', async (name) => {
    await using receiver = await startReceiver();
    await using simulator = await startShaped({ name }, { webhookUrl: receiver.url });
    const seen = await callEverything(simulator);
    expect(problemsWith(simulator.description, seen)).toEqual([]);
    expect(seen.calls.map(({ answer }) => answer.status)).toEqual(plain.calls.map(({ answer }) => answer.status));

    const { event, delivery, timestamp, signature } = serviceHeaders(SHAPES[name].header_prefix);
    const names = [event, delivery, timestamp, signature];
    const { webhooks } = simulator.description.document;
    const inDocument = EVENT_KINDS.map((event) => webhooks[event]?.post.parameters?.map((header) => header.name));
    expect(inDocument).toEqual(EVENT_KINDS.map(() => names));
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    expect(names.filter((header) => receiver.received[0]?.headers[header.toLowerCase()] === undefined)).toEqual([]);

    // A document that allows everything would have passed until here.
    const others = problemsWith(simulator.description, { ...plain, webhooks: [] });
    expect([...problemsWith(described, seen), ...others].length > 0).toBe(name !== 'plain' && name !== 'branded');
  });
});

it('ids that are numbers name the same resources in paths, in esim_id and for operators, also after a restart', async () => {
  const dataFile = `${temporaryFolder('shape')}/simulator.sqlite`;
  const ids = { order: 0, esim: 0 };
  {
    await using simulator = await startShaped({ name: 'number_ids' }, { dataFile });
    const answer = await simulator.order();
    Object.assign(ids, { order: answer.at('id'), esim: answer.at('esim_id') });
    expect([typeof ids.order, typeof ids.esim, ids.order === ids.esim]).toEqual(['number', 'number', false]);
    expect((await simulator.topUp(String(ids.esim))).at('esim_id')).toBe(ids.esim);
  }
  await using simulator = await startTestSimulator({ dataFile });
  expect((await simulator.sandbox.get(`/orders/${ids.order}`)).at('id')).toBe(ids.order);
  expect((await simulator.sandbox.get(`/topups?esim_id=${ids.esim}`)).at('data', 0, 'esim_id')).toBe(ids.esim);
  expect((await simulator.admin.get(`/esims/${ids.esim}`)).status).toBe(200);
  for (const path of ['/orders/1', `/orders/${ids.esim}`, '/esims/99999992'])
    expect((await simulator.sandbox.get(path)).status).toBe(404);
});

it('a choice changes single properties of a named shape, for all clients at once, until a reset', async () => {
  await using simulator = await startTestSimulator({ shape: 'money_numbers' });
  const properties = { money: 'minor', without: ['order.failure'] };
  const chosen = await simulator.admin.post('/shape', { name: 'data_envelope', properties });
  expect(chosen.at('properties')).toEqual({ ...SHAPES.data_envelope, ...properties });
  expect((await simulator.order()).at('data', 'price_for_reseller')).toBe(240);
  expect((await simulator.admin.post('/reset')).at('shape', 'name')).toBe('money_numbers');
});

const IDS = PACKAGES.map(({ id }) => id).toSorted((left, right) => left - right);

/** Query of the next page in an answer; undefined without one. */
type Next = (answer: HttpAnswer, ids: readonly number[]) => string | undefined;

const nextPage: Next = (answer) => {
  const [page, last] = [Number(answer.at('meta', 'current_page')), Number(answer.at('meta', 'last_page'))];
  return page < last ? `?page=${page + 1}` : undefined;
};
const nextOffset: Next = (answer, ids) => {
  const next = Number(answer.at('offset')) + ids.length;
  return next < Number(answer.at('total')) ? `?offset=${next}` : undefined;
};
const linked: Next = (answer) => {
  const address = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  return address === undefined ? undefined : new URL(address).search;
};
const idsOf = (answer: HttpAnswer) => (answer.at('data') as { id: number }[]).map(({ id }) => id);

it.each<[ShapeName, Next]>([
  ['plain', (answer) => (answer.at('next_cursor') === null ? undefined : `?cursor=${answer.textAt('next_cursor')}`)],
  ['pages', nextPage],
  ['offset_limit', nextOffset],
  ['link_header', linked],
  ['has_more', (answer, ids) => (answer.at('has_more') === true ? `?starting_after=${ids.at(-1)}` : undefined)],
])('a list in the shape %s leads from page to page to its end, with each item once', async (name, next) => {
  await using simulator = await startShaped({ name });
  const pages: (readonly number[])[] = [];
  for (let query: string | undefined = ''; query !== undefined;) {
    const answer: HttpAnswer = await simulator.sandbox.get(`/packages${query}`);
    const ids = idsOf(answer);
    pages.push(ids);
    query = next(answer, ids);
  }
  expect(pages.flat()).toEqual(IDS);
  expect(pages.map(({ length }) => length)).toEqual(name === 'plain' ? [50, 1] : [25, 25, 1]);
});

it('a list in the shape silent_lists has its first 25 items and no sign of the others', async () => {
  await using simulator = await startShaped({ name: 'silent_lists' });
  for (const query of ['', '?limit=100', '?page=2', '?cursor=x', '?offset=25']) {
    const answer = await simulator.sandbox.get(`/packages${query}`);
    expect(Object.keys(answer.body as object)).toEqual(['data']);
    expect(idsOf(answer)).toEqual(IDS.slice(0, 25));
  }
});
