import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CANCELLATION_OUTCOMES, OUTCOMES, VPN_CANCELLATION_OUTCOMES } from '#simulator/behaviour/behaviours.ts';
import { dialectNames, dialectProperties } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames, requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { PACKAGES, VPN_PLANS } from '#simulator/catalogue.ts';
import { SIMULATOR_FIELDS } from '#simulator/options.ts';
import { shapeNames, shapeProperties } from '#simulator/shapes/shape.ts';
import { Description, documentShape } from '#test/simulator/described.ts';
import { startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import { ENDPOINTS, EVENT_KINDS, REFUND_CONDITIONS } from '#upstream/contract.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8');

/** Rows of all tables: the second cell by the first. */
const rows = new Map(
  [...DOCUMENT.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, first = '', second = '']) => [first, second]),
);
const named = new Set([...rows.keys()].flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)));

const kindsOf = (union: typeof requestFault | typeof webhookFault): string[] =>
  union.options.flatMap((option) => [...option.shape.kind.values]);

describe('docs/simulator.md', () => {
  it('has a row for each variable, dialect, shape, property, fault and special package', () => {
    const special = [...PACKAGES, ...VPN_PLANS]
      .filter(({ behaviour }) => behaviour !== undefined)
      .map(({ id }) => String(id));
    const things = [
      ...Object.keys(SIMULATOR_FIELDS),
      ...dialectNames,
      ...shapeNames,
      ...Object.keys(shapeProperties.shape),
      ...Object.keys(dialectProperties.shape),
      ...kindsOf(requestFault),
      ...kindsOf(webhookFault),
    ];
    expect(things.filter((thing) => !named.has(thing))).toEqual([]);
    expect(special.filter((id) => !rows.has(id))).toEqual([]);
    const missing = (row: string, words: readonly string[]) =>
      words.filter((word) => !(rows.get(row) ?? '').includes(`\`${word}\``));
    expect(missing('`outcome`', OUTCOMES)).toEqual([]);
    expect(missing('`outcome` of a `cancellation`', CANCELLATION_OUTCOMES)).toEqual([]);
    expect(missing('`outcome` of a `vpn_cancellation`', VPN_CANCELLATION_OUTCOMES)).toEqual([]);
    expect(faultProfileNames.filter((name) => !DOCUMENT.includes(`\`${name}\``))).toEqual([]);
    expect(REFUND_CONDITIONS.filter((condition) => !rows.has(`\`${condition}\``))).toEqual([]);
    expect(/^(\d+) packages/m.exec(DOCUMENT)?.[1]).toBe(String(PACKAGES.length));
  });

  it.each(Object.entries(SIMULATOR_FIELDS))('states the actual default of %s', (name, schema) => {
    const stated = rows.get(`\`${name}\``) ?? '';
    const literal = /^`(.*)`$/.exec(stated)?.[1];
    expect(literal === undefined ? stated : schema.parse(literal)).toEqual(schema.parse(undefined) ?? 'none');
  });
});

const operationsOf = ({ document: { paths } }: Description): string[] =>
  Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));

describe('the OpenAPI document', () => {
  it('has every call of the contract', async () => {
    await using simulator = await startTestSimulator();
    const sandbox = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const production = new Description((await simulator.production.get('/openapi.json')).read(documentShape));
    const all = Object.keys(ENDPOINTS).toSorted();
    expect(operationsOf(sandbox).toSorted()).toEqual(all);
    expect(operationsOf(production).toSorted()).toEqual(all.filter((name) => name !== 'simulateEsim'));
    expect(Object.keys(sandbox.document.webhooks).toSorted()).toEqual(EVENT_KINDS.toSorted());
  });
});

describe('every event', () => {
  it('is sent with a body as in the document', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhookUrl: receiver.url, webhookSecret: 'whsec_test' });
    await simulator.admin.post('/webhooks/ping');
    const esims = [await simulator.esim(), await simulator.esim(), await simulator.esim()];
    await simulator.order({ package_id: 9002 });
    await simulator.topUp(esims[0] ?? '', 9001);
    await simulator.topUp(esims[1] ?? '', 9003);
    await simulator.cancel(esims[2] ?? '');
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'refund_failed', count: 1 });
    await simulator.cancel(await simulator.esim());
    const subscription = (await simulator.orderVpn()).textAt('id');
    await simulator.sandbox.post(`/vpn/subscriptions/${subscription}/cancel`);
    await simulator.orderVpn({ vpn_plan_id: 393 });
    const expiring = (await simulator.orderVpn()).textAt('id');
    await simulator.admin.post(`/vpn-subscriptions/${expiring}/expire`);

    const description = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const kinds = (): string[] => [...new Set(receiver.received.map(({ event }) => event))].toSorted();
    await expect.poll(kinds).toEqual(EVENT_KINDS.toSorted());
    for (const { event, body } of receiver.received)
      expect(description.judgeWebhook(event, JSON.parse(body.toString())), event).toBe('valid');
    expect(receiver.received.map(({ body }) => body.toString()).join()).not.toContain('"access"');
  });
});
