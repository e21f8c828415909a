import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import express, { type ErrorRequestHandler, type Express, Router } from 'express';
import { addActions, addRules, addWebhooks } from '#simulator/admin/actions.ts';
import { AdminCalls } from '#simulator/admin/calls.ts';
import { addReads } from '#simulator/admin/reads.ts';
import { resolveOptions, type SimulatorOptions } from '#simulator/options.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import { Pipeline } from '#simulator/service/pipeline.ts';
import { Simulation } from '#simulator/simulation.ts';
import { BASE_PATH, SANDBOX_SUFFIX } from '#upstream/contract.ts';

export interface RunningSimulator {
  readonly url: string;
  /** This is production; the sandbox's ends with `/sandbox`. */
  readonly baseUrl: string;
  readonly port: number;
  /** Aborts calls and webhooks under way; the state stays in the data file. */
  close(): Promise<void>;
}

/** @throws StoreError when the data file cannot be used; an Error of node when the port cannot be used. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const resolved = resolveOptions(options);
  const simulation = new Simulation(resolved);
  const stopping = new AbortController();
  const pipeline = new Pipeline(simulation, stopping.signal);
  const server = createServer(application(simulation, pipeline));
  try {
    const listening = once(server, 'listening');
    server.listen(resolved.port, resolved.host);
    await listening;
  } catch (error) {
    await simulation.close();
    throw error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the simulator listens on no port');
  const { port } = address;
  const url = `http://${resolved.host.includes(':') ? `[${resolved.host}]` : resolved.host}:${port}`;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopping.abort();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await pipeline.drained();
    await simulation.close();
  };
  return { url, baseUrl: `${url}${BASE_PATH}`, port, close: () => (closing ??= close()) };
}

function application(simulation: Simulation, pipeline: Pipeline): Express {
  // `docs/simulator.md` lists the calls.
  const admin = new AdminCalls();
  for (const add of [addReads, addRules, addWebhooks, addActions]) add(admin, simulation);
  admin.router.use((_request, _response, next) => next(notFound('admin call')));
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.use(pageRouter());
  app.use('/simulator', admin.router);
  app.use(`${BASE_PATH}${SANDBOX_SUFFIX}`, pipeline.router('sandbox'));
  app.use(BASE_PATH, pipeline.router('production'));
  app.use((_request, _response, next) => next(notFound('address')));
  app.use(errorHandler(simulation));
  return app;
}

/** Unknown addresses, and paths that are no valid URLs, get here. */
function errorHandler(simulation: Simulation): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const { logger, shaper } = simulation;
    const refusal =
      error instanceof ServiceError
        ? error
        : error instanceof URIError
          ? new ServiceError(400, 'malformed_request', 'The path is not validly encoded.')
          : new ServiceError(500, 'internal_error', 'The simulator has a bug; see its log.');
    if (refusal.status === 500) logger.error({ err: error }, 'a request failed');
    const plain = refusal.answer();
    const isService = request.originalUrl.startsWith(`${BASE_PATH}/`);
    const { status, body, headers } = isService ? shaper.answer(undefined, plain) : plain;
    response.status(status).set(headers).send(body);
  };
}

const FOLDER = join(import.meta.dirname, '../page');

const FILES = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/page/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/page/dom.js', 'dom.js', 'text/javascript; charset=utf-8'],
  ['/page/tables.js', 'tables.js', 'text/javascript; charset=utf-8'],
] as const;

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const;

function pageRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, file, type] of FILES) {
    const body = readFileSync(join(FOLDER, file));
    router.get(path, (_request, response) => {
      response.set(HEADERS).type(type).send(body);
    });
  }
  return router;
}
