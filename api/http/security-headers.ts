import type { NextFunction, Request, Response } from 'express';

/** For answers that no browser should render or embed. */
const STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** For our own pages: scripts and styles from here only. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Set on everything; a page overrides the policy with its own. */
export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', STRICT_POLICY);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  // Answers hold business data of one caller: no cache on the way keeps them.
  response.setHeader('Cache-Control', 'no-store');
  next();
}
