import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is: `CHROMIUM_PATH`, or where distributions put it. */
const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...CANDIDATES].find(
  (path) => path !== '' && existsSync(path),
);

interface BrowserPlace {
  readonly path: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * True when browser tests can run here. On a machine without Chromium they are left out, and say so.
 *
 * @param here where Chromium is, if anywhere, and the environment of the tests.
 * @throws Error in CI (`CI` is set) where there is none: its file fails, since what nobody sees must not be left out.
 */
export function browserAvailable(here: BrowserPlace = { path: chromiumPath, environment: process.env }): boolean {
  if (here.path !== undefined) return true;
  if ((here.environment['CI'] ?? '') !== '') throw new Error('Chromium is missing: install it, or set CHROMIUM_PATH.');
  process.stderr.write('\n!!! The browser tests DO NOT RUN: no Chromium found. Install it, or set CHROMIUM_PATH.\n\n');
  return false;
}

/** Milliseconds that a step of a browser may take: reached only when it never happens. */
const PATIENCE_MS = 100_000;

/** A headless Chromium that asks nobody but the pages it is given. @param more arguments for it. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('no Chromium here');
  return chromium.launch({
    executablePath: chromiumPath,
    timeout: PATIENCE_MS,
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

/** @param viewport in pixels. */
export async function openPage(
  browser: Browser,
  viewport: { readonly width: number; readonly height: number },
): Promise<Page> {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** Keeps a picture of a page under `test/artifacts/`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(import.meta.dirname, '../../artifacts');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
