/** The page of a share link in Chromium: on a phone and a desktop, in two directions of writing, light and dark. */
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { shareLanguages } from '#domain/esims/share-link.ts';
import { makeLink, sharedEsim } from '#test/support/api/share-links.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';
import { browserAvailable, keepScreenshot, launchBrowser } from '#test/support/network/browser.ts';
import { qrOfPng } from '#test/support/qr.ts';

const violations = z.array(
  z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })) }),
);

/** Of the greatest usual length. */
const CODE = `LPA:1$very-long-name.of-a.provisioning-server.example.com$${'A1B2C3D4-'.repeat(7)}X`;
const SIZES = {
  phone: { width: 390, height: 844 },
  small: { width: 320, height: 640 },
  desktop: { width: 1280, height: 900 },
};

interface View {
  readonly size?: keyof typeof SIZES;
  readonly colorScheme?: 'light' | 'dark';
}

describe.skipIf(!browserAvailable())('the page of a share link in a browser', () => {
  let api: TestApi;
  let browser: Browser;
  let path: string;
  beforeAll(async () => {
    api = await startTestApi();
    const esim = await sharedEsim(api, {}, { code: CODE });
    ({ path } = await makeLink(await api.caller(), esim, { label: 'Japan, 1 GB' }));
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.[Symbol.asyncDispose]();
  });

  /** Opens a page without scripts. Collects complaints of the browser, and requests other than that of the page. */
  async function open(target: string, { size = 'phone', colorScheme = 'light' }: View = {}) {
    const context = await browser.newContext({ viewport: SIZES[size], colorScheme, javaScriptEnabled: false });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('request', (request) => {
      if (request.url() !== `${api.baseUrl}${target}`) complaints.push(`asked ${request.url()}`);
    });
    await page.goto(`${api.baseUrl}${target}`, { waitUntil: 'load' });
    return { page, complaints, close: () => context.close() };
  }

  /** What axe finds. Scripts run only for axe. */
  async function accessibilityProblems(target: string, { size = 'phone', colorScheme = 'light' }: View = {}) {
    const context = await browser.newContext({ viewport: SIZES[size], colorScheme });
    const page = await context.newPage();
    await page.goto(`${api.baseUrl}${target}`);
    await page.evaluate(axe.source);
    const found = violations.parse(await page.evaluate('axe.run().then((result) => result.violations)'));
    await context.close();
    return found.map(({ id, nodes }) => [id, ...nodes.map(({ failureSummary }) => failureSummary)]);
  }

  it.each([
    ['en', 'phone', 'light'],
    ['ar', 'phone', 'dark'],
    ['de', 'desktop', 'light'],
    ['zh', 'desktop', 'dark'],
    ['fr', 'small', 'light'],
  ] as const)('in %s on a %s in %s colours works without scripts, loads nothing else and fits', async (...view) => {
    const [language, size, colorScheme] = view;
    const { page, complaints, close } = await open(`${path}?lang=${language}`, { size, colorScheme });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await keepScreenshot(page, `share-${language}-${size}-${colorScheme}`, { fullPage: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(SIZES[size].width);
    expect(await page.locator('html').getAttribute('dir')).toBe(language === 'ar' ? 'rtl' : 'ltr');
    expect(complaints).toEqual([]);
    // A phone reads the code from the screen, also in dark colours.
    expect(qrOfPng(await page.locator('.qr').screenshot()).text).toBe(CODE);
    await close();
  });

  it('has no problem of accessibility that axe finds, in any language, light or dark, large or small', async () => {
    for (const language of shareLanguages)
      expect([language, await accessibilityProblems(`${path}?lang=${language}`)]).toEqual([language, []]);
    // Colours and sizes do not depend on the language.
    expect(await accessibilityProblems(path, { colorScheme: 'dark' })).toEqual([]);
    expect(await accessibilityProblems(path, { size: 'desktop' })).toEqual([]);
    expect(await accessibilityProblems('/e/unknown')).toEqual([]);
  });

  it('has one main part, one first heading, named sections, and targets that a finger hits', async () => {
    const { page, close } = await open(path);
    expect(await page.getByRole('main').count()).toBe(1);
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Install your eSIM']);
    expect(await page.getByRole('region').count()).toBe(7);
    await page.getByRole('img', { name: 'QR code with the activation code of the eSIM' }).waitFor();
    for (const name of ['Install on iPhone', 'Install on Android']) {
      const box = await page.getByRole('link', { name }).boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
    }
    await close();
  });

  it('prints the codes and the steps, without what only works on a screen', async () => {
    const { page, close } = await open(path, { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await keepScreenshot(page, 'share-print', { fullPage: true });
    for (const [name, isVisible] of [
      ['Scan the QR code', true],
      ['Enter the codes by hand', true],
      ['Install on this phone', false],
    ] as const)
      expect([name, await page.getByText(name).isVisible()]).toEqual([name, isVisible]);
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    await close();
  });
});
