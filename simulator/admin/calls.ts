import { type Request, type RequestHandler, Router } from 'express';
import type * as z from 'zod';
import { notFound, parsed, ServiceError } from '#simulator/service/errors.ts';
import { jsonOf, readBody } from '#simulator/service/requests.ts';

/** The calls of the admin API. Undefined gives 204; a thrown ServiceError becomes the answer. */
export class AdminCalls {
  readonly router = Router({ caseSensitive: true });

  constructor() {
    this.router.use(localNameOnly, sameOriginOnly);
  }

  get<Schema extends z.ZodType>(
    path: string,
    query: Schema,
    read: (query: z.output<Schema>, id: string) => unknown,
  ): void {
    this.router.get(path, (request, response) => {
      response.json(read(parsed(query, { ...request.query }), idOf(request)));
    });
  }

  /** A command without fields may have no body; curl then sends no Content-Type. */
  post<Schema extends z.ZodType>(
    status: 200 | 201 | 202,
    path: string,
    schema: Schema,
    act: (body: z.output<Schema>, id: string) => unknown,
  ): void {
    this.router.post(path, async (request, response) => {
      const bytes = await readBody(request, response);
      const json = bytes.length === 0 ? {} : jsonOf(bytes, request.get('Content-Type'));
      response.status(status).json(act(parsed(schema, json), idOf(request)));
    });
  }

  delete(path: string, remove: (id: string) => void): void {
    this.router.delete(path, (request, response) => {
      remove(idOf(request));
      response.status(204).end();
    });
  }

  /** @param what the message of the 404 if nothing was removed. */
  deleteOne(path: string, what: string, remove: (id: string) => boolean | number): void {
    this.delete(`${path}/:id`, (id) => {
      if (!remove(id)) throw notFound(what);
    });
  }
}

function idOf(request: Request): string {
  const id = request.params['id'];
  return typeof id === 'string' ? id : '';
}

/** Against DNS rebinding: a foreign page can point its own domain here, so names that a domain can have are refused. */
const localNameOnly: RequestHandler = (request, _response, next) => {
  const host = request.get('Host') ?? '';
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
  const isAddress = name.startsWith('[') || /^[\d.]+$/.test(name);
  if (isAddress || !name.includes('.') || name.endsWith('.localhost')) next();
  else next(new ServiceError(403, 'conflict', 'Call the admin API by an IP address or a name without a dot.'));
};

/** Against cross-site requests: other pages open in the same browser may not call. */
const sameOriginOnly: RequestHandler = (request, _response, next) => {
  const origin = request.get('Origin');
  const own = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('Host'));
  next(own ? undefined : new ServiceError(403, 'conflict', 'The admin API is not for pages of another origin.'));
};

export function conflict(message: string): never {
  throw new ServiceError(409, 'conflict', message);
}
