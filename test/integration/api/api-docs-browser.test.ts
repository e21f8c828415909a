import type { Browser, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { browserAvailable, keepScreenshot, launchBrowser, openPage } from '#test/support/network/browser.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const pixels = z.object({ data: z.array(z.int()), width: z.int(), height: z.int() });

/** Runs in the browser, whose names the types of this project do not contain. */
const READ_PIXELS = `async (url) => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
  return { data: [...data], width, height };
}`;

describe.skipIf(!browserAvailable())('in a browser', () => {
  let stack: Stack;
  let desk: OrderDesk;
  let browser: Browser;

  beforeAll(async () => {
    stack = await startStack({ environment: RARE_UPKEEP });
    desk = new OrderDesk(stack);
    // The first order meets a new worker. The page waits for the second one.
    await desk.complete(PACKAGE.completedAtOnce);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Opens a page of the API. Collects its errors and its requests to other hosts. */
  const open = async (path: string): Promise<{ page: Page; complaints: string[] }> => {
    const page = await openPage(browser, { width: 1300, height: 1000 });
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

  it('/docs takes the key, sends requests and shows their answers, under a strict policy', async () => {
    const { page, complaints } = await open('/docs/');
    expect(new URL(page.url()).pathname).toBe('/docs');
    await page.getByRole('heading', { name: 'Reseller fulfilment API' }).waitFor();
    await keepScreenshot(page, 'docs');

    await page.locator('button.authorize').first().click();
    const dialog = page.locator('.modal-ux');
    await dialog.locator('input').fill(stack.apiKey);
    await dialog.getByRole('button', { name: 'Apply credentials' }).click();
    await keepScreenshot(page, 'docs-authorised');
    await dialog.locator('button.btn-done').click();

    const create = page.locator('#operations-Orders-createOrder');
    await create.locator('.opblock-summary-control').click();
    await create
      .locator('textarea.body-param__text')
      .fill('{"package_id": 1001, "external_order_id": "from-the-docs"}');
    await create.locator('button.execute').click();
    // The page sets `Prefer: wait`, so a new user sees the delivered order.
    await create.locator('.live-responses-table .response-col_status', { hasText: '201' }).waitFor();
    expect(await create.locator('.live-responses-table').textContent()).toContain('from-the-docs');
    await create.locator('.responses-wrapper').scrollIntoViewIfNeeded();
    await keepScreenshot(page, 'docs-order');
    await create.locator('.opblock-summary-control').click();

    // Without any input, it must show the existing orders.
    const list = page.locator('#operations-Orders-listOrders');
    await list.locator('.opblock-summary-control').click();
    await list.locator('button.execute').click();
    await list.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    expect(await list.locator('.live-responses-table').textContent()).toContain('from-the-docs');
    await keepScreenshot(page, 'docs-request');

    const id = (await stack.api.get('/v1/orders?external_order_id=from-the-docs')).textAt('data', 0, 'id');
    await stack.orderReaches(id, ['completed']);
    expect(complaints).toEqual([]);
  });

  it('the page of a problem shows its meaning and links to other problems', async () => {
    const { page, complaints } = await open('/problems/idempotency-key-reused');
    await page.getByRole('heading', { name: 'What to do' }).waitFor();
    await keepScreenshot(page, 'docs-problem');
    await page.getByRole('link', { name: 'order_not_found' }).click();
    await page.getByRole('heading', { name: 'There is no such order' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    ['svg', 'image/svg+xml'],
    ['png', 'image/png'],
  ])('the QR code as %s, rendered by the browser, decodes to the LPA string', async (format, type) => {
    const esimId = (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
    const expected = (await stack.api.get(`/v1/esims/${esimId}/activation`)).textAt('activation_code');
    const page = await openPage(browser, { width: 600, height: 600 });
    // As a shop does: its server fetches the code with the key and shows it on its own page.
    const answer = await fetch(`${stack.api.baseUrl}/v1/esims/${esimId}/qr.${format}`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    });
    expect(answer.headers.get('content-type')).toContain(type);
    const source = `data:${type};base64,${Buffer.from(await answer.arrayBuffer()).toString('base64')}`;
    await page.setContent(`<body style="margin:0;background:#ddd"><img width="400" src="${source}"></body>`);
    await page.locator('img').waitFor();
    await keepScreenshot(page, `qr-${format}`);

    const picture = `data:image/png;base64,${(await page.screenshot()).toString('base64')}`;
    const { data, width, height } = pixels.parse(await page.evaluate(`(${READ_PIXELS})(${JSON.stringify(picture)})`));
    expect(decodeQR({ data: new Uint8Array(data), width, height })).toBe(expected);
  });
});
