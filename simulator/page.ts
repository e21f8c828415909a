import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';

const FOLDER = join(import.meta.dirname, 'page');

const FILES = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/page/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/page/dom.js', 'dom.js', 'text/javascript; charset=utf-8'],
  ['/page/tables.js', 'tables.js', 'text/javascript; charset=utf-8'],
] as const;

/** Allows only resources of this server, and forbids framing. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const;

/** The status page, at `/`. */
export function pageRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, file, type] of FILES) {
    const body = readFileSync(join(FOLDER, file));
    router.get(path, (_request, response) => {
      response.set(HEADERS).type(type).send(body);
    });
  }
  return router;
}
