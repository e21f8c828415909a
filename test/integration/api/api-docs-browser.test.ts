import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { browserAvailable, keepScreenshot, launchBrowser, openPage } from '#test/support/network/browser.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

interface View {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: 'light' | 'dark';
}

const DESKTOP: View = { viewport: { width: 1300, height: 1000 }, colorScheme: 'light' };
const DARK: View = { ...DESKTOP, colorScheme: 'dark' };
const PHONE: View = { viewport: { width: 390, height: 844 }, colorScheme: 'light' };

const orderSent = z.object({ package_id: z.int(), external_order_id: z.string() });

describe.skipIf(!browserAvailable())('in a browser', () => {
  let stack: Stack;
  let browser: Browser;
  const pages: Page[] = [];

  beforeAll(async () => {
    stack = await startStack({ environment: RARE_UPKEEP });
    // The first order meets a new worker. The page waits for the second one.
    await new OrderDesk(stack).complete(PACKAGE.completedAtOnce);
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Opens a page of the API. Collects its errors and its requests to other hosts. */
  const open = async (path: string, view: View = DESKTOP): Promise<{ page: Page; complaints: string[] }> => {
    const page = await openPage(browser, view.viewport, view.colorScheme);
    pages.push(page);
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(stack.api.baseUrl) && !request.url().startsWith('data:'))
        complaints.push(`asked ${request.url()}`);
    });
    await page.goto(`${stack.api.baseUrl}${path}`, { waitUntil: 'load' });
    return { page, complaints };
  };

  const REFERENCE = '/docs/reference';

  /** Opens a call in the reference, with the client for requests in front of it. */
  const openClient = async (anchor: string, view: View = DESKTOP) => {
    const { page, complaints } = await open(`${REFERENCE}#${anchor}`, view);
    const button = (name: RegExp) => page.getByRole('button', { name }).first();
    await button(/Test Request/).waitFor();
    const [, method = '', path = ''] = /([A-Z]+)(\/.*)$/.exec(anchor) ?? [];
    const call = `${method.toLowerCase()} ${path.replaceAll(/[{}/]/g, '\\$&')}`;
    await button(new RegExp(`^Test Request.*${call}`)).click();
    const client = page.getByRole('dialog');
    await client.getByPlaceholder('Token').fill(stack.apiKey);
    return { page, client, complaints };
  };

  it('a form of the reference sends what it shows, twice without an error, under a strict policy', async () => {
    const { page, client, complaints } = await openClient('tag/orders/POST/v1/orders');
    await keepScreenshot(page, 'docs-client');
    const body = client.locator('.cm-content[contenteditable=true]').last();
    for (const packageId of ['2001', '1001']) {
      const text = (await body.innerText()).replace('2001', packageId);
      await body.fill(text);
      const shown = await client.innerText();
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await client.getByRole('button', { name: /^Send/ }).first().click();
      const request = await sent;
      const answer = await request.response();
      // The page sets `Prefer: wait`, so a new user sees the delivered order.
      expect(answer?.status()).toBe(201);
      const key = request.headers()['idempotency-key'] ?? '';
      expect(shown).toContain(key);
      expect(orderSent.parse(JSON.parse(text))).toEqual(orderSent.parse(await answer?.json()));
      // The next request has another key, and the package that was typed.
      await client.getByText(key).waitFor({ state: 'detached' });
    }
    expect(await body.innerText()).toContain('"package_id": 1001');
    await keepScreenshot(page, 'docs-order');
    expect(complaints).toEqual([]);
  });

  it('the reference reads a real order where the description has an example id', async () => {
    const { page, client, complaints } = await openClient('tag/orders/GET/v1/orders/{id}');
    await client.getByRole('button', { name: /^Send/ }).first().click();
    await client.getByText('200 OK').first().waitFor();
    await keepScreenshot(page, 'docs-real-id');
    expect(complaints).toEqual([]);
  });

  const GUIDES = ['first-order', 'errors', 'testing', 'rules'].map((name) => `/docs/guides/${name}`);
  const PAGES = ['/docs', ...GUIDES, REFERENCE, '/problems/quote_expired'];
  const VIEWS = Object.entries({ desktop: DESKTOP, dark: DARK, phone: PHONE });

  it.each(PAGES.flatMap((path) => VIEWS.map(([name, view]) => ({ path, name, view }))))(
    '$path fits a $name screen without scrolling sideways',
    async ({ path, name, view }) => {
      const { page, complaints } = await open(path, view);
      await page.getByRole('heading').first().waitFor();
      await keepScreenshot(page, `docs-${name}${path.replaceAll(/\W/g, '-')}`);
      const [whole, visible] = z
        .tuple([z.number(), z.number()])
        .parse(await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'));
      expect(whole).toBeLessThanOrEqual(visible);
      const background = z.string().parse(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      const brightness = Math.max(...(background.match(/\d+/g) ?? []).slice(0, 3).map(Number));
      expect(brightness < 128).toBe(view.colorScheme === 'dark');
      expect(complaints).toEqual([]);
    },
  );
});
