import { get } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import { browserAvailable, launchBrowser, openPage } from '#test/support/network/browser.ts';

describe.runIf(browserAvailable())('the status page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** A page of a simulator with a receiver. Collects all errors of the browser. */
  async function open() {
    const receiver = await startReceiver();
    const webhook = { webhookUrl: receiver.url, webhookSecret: 'whsec_test' };
    const simulator = await startTestSimulator({ ...webhook, processingDelayMs: 600_000 });
    const page = await openPage(browser, { width: 1400, height: 2100 });
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(simulator.simulator.url);
    await page.locator('#wallet-sandbox').waitFor();
    const close = async (): Promise<void> => {
      await page.close();
      await simulator.simulator.close();
      await receiver[Symbol.asyncDispose]();
    };
    return { page, simulator, receiver, complaints, [Symbol.asyncDispose]: close };
  }

  const row = (page: Page, table: string, text: string) => page.locator(`#${table} tbody tr`, { hasText: text });

  it('shows an order as text with its eSIM, debit, webhook and call, and replays the webhook', async () => {
    await using opened = await open();
    const { page, simulator, receiver } = opened;
    const evil = '<img src=x onerror="document.title=1">';
    const order = await simulator.order({ external_order_id: evil }, 'key-4711');
    await row(page, 'orders', evil).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toBe('Service simulator');
    await row(page, 'esims', order.textAt('esim_id')).waitFor();
    await row(page, 'ledger', '2.40 USD').waitFor();
    await row(page, 'requests', 'key-4711').waitFor();
    await expect.poll(() => page.locator('#wallet-sandbox strong').innerText()).toBe('99997.60 USD');

    const delivery = row(page, 'deliveries', 'order.completed');
    await delivery.getByText('delivered').waitFor();
    await delivery.getByRole('button', { name: 'Replay' }).click();
    const [first, second] = await receiver.count(2);
    expect(second?.deliveryId).toBe(first?.deliveryId);
    await delivery.getByText('204, 204').waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it('adds a fault that then affects a call, shows that it fired, and removes it', async () => {
    await using opened = await open();
    const { page, simulator } = opened;
    const form = page.locator('#add-fault');
    await form.locator('[name=subject]').selectOption('createOrder');
    await form.locator('[name=kind]').selectOption('server_error');
    await page.getByRole('button', { name: 'Add fault', exact: true }).click();
    await row(page, 'faults', 'server_error').waitFor();
    expect((await simulator.order()).status).toBe(503);
    const fired = row(page, 'faults', 'server_error').locator('td').nth(6);
    await expect.poll(() => fired.innerText()).toBe('1');
    await row(page, 'requests', 'server_error').waitFor();
    await row(page, 'faults', 'server_error').getByRole('button', { name: 'Remove' }).click();
    await page.locator('#faults').getByText('None.').waitFor();
    expect(opened.complaints).toEqual([]);
  });
});

describe('the status page', () => {
  it('loads nothing from other hosts and may not be framed', async () => {
    await using simulator = await startTestSimulator();
    const page = await fetch(simulator.simulator.url);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    const html = await page.text();
    expect(html).not.toMatch(/https?:\/\//);
    expect(html).not.toMatch(/ style=| on\w+=/);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect((await fetch(simulator.simulator.url + path)).status).toBe(200);
  });

  it('may call the admin API, and a page of another origin may not', async () => {
    await using simulator = await startTestSimulator();
    const own = new URL(simulator.simulator.url).origin;
    const call = async (origin: string) => (await simulator.admin.post('/reset', {}, { headers: { origin } })).status;
    expect(await call('http://elsewhere.example')).toBe(403);
    expect(await call('null')).toBe(403);
    expect(await call(own)).toBe(200);
  });

  it('and the admin API are served for an IP address or a local name, not for a foreign domain', async () => {
    await using simulator = await startTestSimulator();
    const { port } = new URL(simulator.simulator.url);
    const statusAs = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { host: `${host}:${port}` };
        get({ host: '127.0.0.1', port, path: '/simulator/state', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        }).on('error', reject);
      });
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'simulator']) expect(await statusAs(host)).toBe(200);
    for (const host of ['rebound.example', '127.0.0.1.example']) expect(await statusAs(host)).toBe(403);
  });
});
