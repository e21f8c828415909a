import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen } from '#cli/operator/events.ts';
import { AUDIT, CASES, EVENTS, REFUNDS, WALLET, WEBHOOK_ENDPOINTS } from '#cli/resources/account.ts';
import { apiCall } from '#cli/resources/call.ts';
import { BATCHES, ESIMS, PACKAGES, PRICING, QUOTES, SHARE_LINKS } from '#cli/resources/catalogue.ts';
import type { CallDefinition } from '#cli/resources/definition.ts';
import { PURCHASES } from '#cli/resources/purchases.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { captured, outputOf } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi } from '#test/support/network/api.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { makeOwnWork, type OwnWork } from '#test/support/work/own-work.ts';

const ofCatalogue = [BATCHES, ESIMS, SHARE_LINKS, PACKAGES, QUOTES, PRICING];
const ofAccount = [WALLET, REFUNDS, CASES, EVENTS, WEBHOOK_ENDPOINTS];
const resources = [...Object.values(PURCHASES), ...ofCatalogue, ...ofAccount];
const commandOf = async (typed: string, definition: CallDefinition) => {
  const { path, body } = await apiCall(definition.call);
  return { typed, definition, creates: body !== undefined, wantsId: path.length > 0 };
};
const commands = await Promise.all(
  resources.flatMap(({ command, commands: all }) =>
    Object.entries(all).map(([action, definition]) => commandOf(`${command} ${action}`, definition)),
  ),
);
const audit = await commandOf('audit', AUDIT);

/** The API of the test has no resource of these kinds, or no service. */
const NOT_IN_TEST = new Set([
  'esims usage',
  'esims topup-options',
  'webhook-endpoints test',
  'pricing show',
  'pricing versions',
]);

const idsOf = ({ ids }: OwnWork): Readonly<Record<string, string>> => ({
  orders: ids.order,
  topups: ids.topup,
  vpn: ids.vpn_subscription,
  cancellations: ids.cancellation,
  esims: ids.esim,
  batches: ids.orderBatch,
  packages: '101',
  'share-links': ids.shareLink,
  refunds: ids.refund,
  cases: ids.case,
  events: ids.event,
  'webhook-endpoints': ids.webhookEndpoint,
});

const api = disposedAtEnd(await startTestApi());
const desk = await api.caller();
const work = await makeOwnWork(api, desk);
const environment = { RESELLER_API_KEY: keyOf(desk) };

const run = (definition: CallDefinition | undefined, options: Record<string, unknown> = {}, ids: string[] = []) =>
  outputOf(definition, { api: api.baseUrl, environment, options, ids });

describe('the commands of the resources', () => {
  it('make calls that the API has, with options of its own description', async () => {
    expect(commands.length).toBeGreaterThan(30);
    for (const { definition } of [...commands, audit])
      expect((await apiCall(definition.call)).operation.summary).not.toBe('');
  });

  const lists = [...commands, audit].filter(({ definition, wantsId }) => definition.prints === 'list' && !wantsId);
  it.each(lists)('$typed prints a table, JSON and CSV', async ({ definition }) => {
    const [table, json, csv] = await Promise.all([
      run(definition),
      run(definition, { json: true }),
      run(definition, { csv: true }),
    ]);
    for (const each of [table, json, csv]) expect(each).toMatchObject({ notes: '', code: 0 });
    const items = JSON.parse(json.output) as unknown[];
    expect(csv.output.trimEnd().split('\n')).toHaveLength(items.length + 1);
    expect(table.output.trimEnd().split('\n')).toHaveLength(items.length === 0 ? 1 : items.length + 1);
  });

  const reads = commands.filter(
    ({ wantsId, creates, definition }) => wantsId && !creates && definition.prints !== 'file',
  );
  const readsOfWork = reads.filter(({ typed }) => !NOT_IN_TEST.has(typed));
  it.each(readsOfWork)('$typed prints what the API knows of an id', async ({ typed, definition }) => {
    const id = idsOf(work)[typed.split(' ')[0] ?? ''] ?? 'unknown';
    const { output, notes } = await run(definition, { json: true }, [id]);
    expect(notes).toBe('');
    expect(JSON.parse(output)).toBeTypeOf('object');
    expect((await run(definition, {}, [id])).output).not.toBe('');
  });

  it.each(reads.filter(({ typed }) => NOT_IN_TEST.has(typed)))('$typed calls a path of the API', async (each) => {
    const { notes } = await run(each.definition, {}, ['1']);
    expect(notes).toMatch(/^\nThe API answered \d{3}: /);
    expect(notes).not.toMatch(/no such (path|route)/i);
  });

  it('create what the options say, and print it', async () => {
    const reference = `cli-${randomUUID()}`;
    const ordered = await run(PURCHASES.order.commands['create'], { packageId: 101, externalOrderId: reference });
    expect(ordered.notes).toBe('');
    expect(ordered.output).toMatch(new RegExp(`^id +ord_\\w+$[^]*^external_order_id +${reference}$`, 'm'));
    const found = await run(PURCHASES.order.commands['list'], { externalOrderId: reference, csv: true });
    expect(found.output).toContain(`,${reference},101,`);
    const again = await run(PURCHASES.order.commands['create'], { packageId: 101, externalOrderId: reference });
    expect(again).toMatchObject({ code: 1, notes: expect.stringContaining('The API answered 409') });
  });

  it('order a batch, follow it and cancel it', async () => {
    const reference = `cli-${randomUUID()}`;
    const batch = { externalBatchId: reference, items: [{ package_id: 101, quantity: 3 }] };
    const created = await run(BATCHES.commands['create'], { ...batch, json: true });
    expect(created.notes).toBe('');
    const { id } = JSON.parse(created.output) as { id: string };
    const listed = await run(BATCHES.commands['list'], { externalBatchId: reference, csv: true });
    expect(listed.output).toMatch(new RegExp(`^${id},in_progress,${reference},3,0,3,`, 'm'));
    const cancelled = await run(BATCHES.commands['cancel'], { reason: 'The trip is off.', json: true }, [id]);
    expect(cancelled.notes).toBe('');
    expect(JSON.parse(cancelled.output)).toMatchObject({ id, cancel_requested_at: expect.any(String) });
  });

  it('write a file once all of it was read, and keep the former one when the call fails', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'cli-file-')), 'code.png');
    const written = await run(ESIMS.commands['qr'], { output: file }, [work.ids.esim]);
    expect(written).toEqual({ output: '', notes: '', code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const image = readFileSync(file);
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    const refused = await run(ESIMS.commands['qr'], { output: file }, ['esim_00000000000000000000000000']);
    expect(refused).toMatchObject({ code: 1, notes: expect.stringContaining('The API answered 404') });
    expect(readFileSync(file)).toEqual(image);
  });

  it('export lists for their owner alone, to a file or a pipe, without control characters', async () => {
    const references = {
      externalOrderId: `cli-${randomUUID()}`,
      customerReference: 'a\u001b]0;b\u0007\u009b2J\tc\r\nd',
    };
    await run(PURCHASES.order.commands['create'], { packageId: 101, ...references });
    const file = join(mkdtempSync(join(tmpdir(), 'cli-file-')), 'orders.csv');
    writeFileSync(file, 'of another day', { mode: 0o644 });
    const asked = (output: string, options = {}) =>
      run(PURCHASES.order.commands['export'], { externalOrderId: references.externalOrderId, output, ...options });
    await asked(file);
    expect(readFileSync(file, 'utf8')).toContain(',"a\\u001b]0;b\\u0007\\u009b2J\tc\r\nd",');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await asked('-')).output).toBe(readFileSync(file, 'utf8'));
    expect((await asked('-', { bom: true })).output).toBe(`\uFEFF${readFileSync(file, 'utf8')}`);
  });

  it('print share links without their secret', async () => {
    const { output, notes } = await run(ESIMS.commands['share-links'], { json: true }, [work.ids.esim]);
    expect(notes).toBe('');
    expect(output).toContain(work.ids.shareLink);
    expect(output).not.toContain('/e/');
    const refused = await run(ESIMS.commands['share'], { label: 'Trip' }, [work.ids.esim]);
    expect(refused.notes).toMatch(/The API answered 409: The eSIM is cancelled/);
  });
});

describe('reseller events listen', () => {
  it('prints events as they happen, and sends each with the signature of an event webhook', async () => {
    await using program = await WebhookReceiver.start();
    program.answers.push(503);
    const stop = new AbortController();
    const [output, notes] = [captured(), captured()];
    const context = { environment, output, notes, signal: stop.signal };
    const ended = listen({ api: api.baseUrl, forwardTo: program.url }, context);
    const order = async () => {
      const body = { package_id: 101, external_order_id: `cli-${randomUUID()}` };
      await postOnce(desk, '/v1/orders', body);
      await api.publish();
    };
    // The stream begins with the events after its connection.
    await waitFor('an event is sent', async () => {
      await order();
      return program.received.length >= 2;
    });
    stop.abort();
    await ended;

    const secret = /whsec_\S+/.exec(notes.text())?.[0] ?? '';
    const verified = program.received.map((each) => WebhookReceiver.verified(each, secret));
    expect(verified[0]).toMatchObject({ type: 'order.accepted' });
    expect(program.received[0]?.headers['user-agent']).toBe('reseller-fulfilment-webhooks/1');
    expect(notes.text()).toMatch(
      / {2}NOT delivered: 503, \d+ ms {2}evt_\w+\n[^]* {2}delivered: 204, \d+ ms {2}evt_\w+\n/,
    );
    expect(output.text()).toMatch(/^2030-01-31 12:00:00Z {2}order\.accepted {2}ord_\w+ {2}evt_\w+\n/);
  });

  it('refuses an invalid address or secret before it connects', async () => {
    const context = { environment, output: captured(), notes: captured(), signal: AbortSignal.abort() };
    await expect(listen({ api: api.baseUrl, forwardTo: 'shop' }, context)).rejects.toThrow('is not an address');
    const bad = { ...context, environment: { ...environment, RESELLER_WEBHOOK_SECRET: 'short' } };
    const to = { api: api.baseUrl, forwardTo: 'http://127.0.0.1:1/' };
    await expect(listen(to, bad)).rejects.toThrow('is not a webhook secret');
  });
});
