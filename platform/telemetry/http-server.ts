import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';

/** Milliseconds for the arrival of a request. */
export const SLOW_REQUESTS = {
  /** Headers fit into one packet. */
  headersTimeout: 10_000,
  /** Far above the time of a body at the limit on a mobile connection. */
  requestTimeout: 30_000,
  /** The default of 30 s would make the two meaningless. */
  connectionsCheckingInterval: 2_000,
} as const;

/** @param at.port 0 lets the system choose. @throws Error with code EADDRINUSE or EACCES. */
export async function listen(server: Server, at: { readonly host: string; readonly port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** @param connections closed at once: `idle` ones, so that running requests are answered, or `all`. */
export async function close(server: Server, connections: 'idle' | 'all'): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if (connections === 'all') server.closeAllConnections();
    else server.closeIdleConnections();
  });
}

export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface SmallServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * No cache stores answers. @param closes as `connections` of {@link close}. @param answerError not called after the
 * answer has begun. @throws Error with code EADDRINUSE or EACCES.
 */
export async function startSmallServer(
  { host, port, closes }: { readonly host: string; readonly port: number; readonly closes: 'idle' | 'all' },
  addRoutes: (app: Express) => void,
  answerError: (error: unknown, response: Response) => void,
): Promise<SmallServer> {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  addRoutes(app);
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (!response.headersSent && !response.destroyed) answerError(error, response);
  });
  const server = createServer(SLOW_REQUESTS, app);
  return { host, port: await listen(server, { host, port }), close: () => close(server, closes) };
}

/** @throws HttpError 405 */
export function onlyMethods(methods: string) {
  return (_request: Request, response: Response): void => {
    response.setHeader('Allow', methods);
    throw new HttpError(405, `only ${methods}`);
  };
}
