import { createServer } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { close, listen, SLOW_REQUESTS } from '#telemetry/listening.ts';

/** An error whose message is the answer to the request. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface SmallServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Connections that `close` ends: `idle` ones, so that running requests are answered, or `all`. */
  readonly closes: 'idle' | 'all';
}

export interface SmallServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a few routes beside the API, such as probes: exact paths, answers that no cache may store, errors as JSON.
 *
 * @param addRoutes adds the routes; other paths are answered with 404.
 * @param answerError answers an error of a route; not called after the answer has begun.
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startSmallServer(
  options: SmallServerOptions,
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
  return {
    host: options.host,
    port: await listen(server, options),
    close: () => close(server, options.closes),
  };
}

/** A route for other methods than the allowed ones. @throws HttpError 405 */
export function onlyMethods(methods: string) {
  return (_request: Request, response: Response): void => {
    response.setHeader('Allow', methods);
    throw new HttpError(405, `only ${methods}`);
  };
}
