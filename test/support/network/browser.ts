import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of Chromium: `CHROMIUM_PATH`, or the usual paths of distributions. */
const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...CANDIDATES].find(
  (path) => path !== '' && existsSync(path),
);

/**
 * True if browser tests can run here. Without Chromium the tests are skipped, with a message.
 *
 * @throws Error in CI (`CI` is set) without Chromium, so that the file of the tests fails.
 */
export function browserAvailable(): boolean {
  if (chromiumPath !== undefined) return true;
  if ((process.env['CI'] ?? '') !== '') throw new Error('Chromium is missing: install it, or set CHROMIUM_PATH.');
  process.stderr.write('\n!!! The browser tests DO NOT RUN: no Chromium found. Install it, or set CHROMIUM_PATH.\n\n');
  return false;
}

/** Time limit of a browser step in milliseconds, reached only on failure. */
const STEP_TIMEOUT_MS = 200_000;

/** Starts a headless Chromium without background requests to other hosts. @param more further arguments. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('no Chromium here');
  return chromium.launch({
    executablePath: chromiumPath,
    timeout: STEP_TIMEOUT_MS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}

/** Opens a page. @param viewport in pixels. @param colorScheme the colours that the reader prefers. */
export async function openPage(
  browser: Browser,
  viewport: { readonly width: number; readonly height: number },
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const page = await browser.newPage({ viewport, colorScheme });
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  return page;
}

/** Saves a screenshot of a page under `test/artifacts/`. @param fullPage true for the whole page, not only its top. */
export async function keepScreenshot(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const folder = join(import.meta.dirname, '../../artifacts');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
