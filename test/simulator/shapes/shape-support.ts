/** Calls of a simulator with another shape, and a validator that accepts only described fields. */
import * as z from 'zod';
import type { SimulatorOptions } from '#simulator/options.ts';
import type { ShapeChoice } from '#simulator/shapes/shape.ts';
import { Description, documentShape } from '#test/simulator/described.ts';
import { EMAIL, PACKAGE, PASSWORD, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const LOGIN = { email: EMAIL, password: PASSWORD, device_name: 'x' };

/** A simulator with a shape. The clients logged in before, in the plain shape. */
export async function startShaped(shape: Partial<ShapeChoice>, options: SimulatorOptions = {}) {
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

/** The last item in a list of the admin API, in the plain shape. */
async function lastOf(simulator: SimulatorClient, path: string): Promise<Record<string, unknown>> {
  const page = z.object({ data: z.array(z.record(z.string(), z.unknown())) });
  return (await simulator.admin.get(path)).read(page).data.at(-1) ?? {};
}

export interface JudgedCall {
  readonly method: string;
  readonly path: string;
  readonly answer: HttpAnswer;
}

/** Every kind of answer, successful and refused, with ids of the admin API, because answers show ids in many forms. */
export async function callEverything(simulator: SimulatorClient): Promise<readonly JudgedCall[]> {
  const calls: JudgedCall[] = [];
  const keep = (method: string, path: string, answer: HttpAnswer): void => {
    calls.push({ method, path, answer });
  };
  const get = async (...paths: readonly string[]): Promise<void> => {
    for (const path of paths) keep('GET', path, await simulator.sandbox.get(path));
  };
  const post = async (path: string, body?: unknown): Promise<void> => {
    keep('POST', path, await simulator.sandbox.post(path, body));
  };
  const idAt = async (path: string): Promise<string> => String((await lastOf(simulator, path))['id']);

  keep('POST', '/login', await simulator.open.post('/sandbox/login', LOGIN));
  keep('POST', '/login', await simulator.open.post('/sandbox/login', { ...LOGIN, password: 'wrong' }));
  await post('/webhook-secret');
  await post('/webhook-secret/rotate');
  for (const package_id of [PACKAGE, 9003, 9004, PACKAGE]) {
    keep('POST', '/orders', await simulator.order({ package_id }));
  }
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
  return calls;
}

/** @returns the errors of answers by a document; empty when all are described. */
export function problemsWith(description: Description, calls: readonly JudgedCall[]): string[] {
  return calls.flatMap(({ method, path, answer }) => {
    const verdict = description.judgeAnswer(method, path, answer);
    return verdict === 'valid' ? [] : [`${method} ${path} ${answer.status}: ${verdict}: ${answer.text}`];
  });
}

/** The signed bodies of all webhooks, by their events. */
export async function webhookBodies(simulator: SimulatorClient): Promise<readonly { event: string; body: unknown }[]> {
  const page = z.object({ data: z.array(z.object({ event: z.string(), body: z.string() })) });
  const { data } = (await simulator.admin.get('/deliveries')).read(page);
  return data.map(({ event, body }) => ({ event, body: JSON.parse(body) as unknown }));
}

/** @returns the errors of webhook bodies by a document. */
export function problemsWithWebhooks(
  description: Description,
  bodies: Awaited<ReturnType<typeof webhookBodies>>,
): string[] {
  return bodies.flatMap(({ event, body }) => {
    const verdict = description.judgeWebhook(event, body);
    return verdict === 'valid' ? [] : [`${event}: ${verdict}: ${JSON.stringify(body)}`];
  });
}
