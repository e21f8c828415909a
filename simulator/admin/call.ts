import type { Request, RequestHandler, Response } from 'express';
import type * as z from 'zod';
import { parsed } from '#simulator/service/errors.ts';
import { jsonOf, readBody } from '#simulator/service/requests.ts';

export interface AdminCall<Body> {
  readonly body: Body;
  readonly id: string;
}

/** @param act undefined gives 204. A ServiceError that it throws becomes the answer. */
export function command<Schema extends z.ZodType>(
  schema: Schema,
  act: (call: AdminCall<z.output<Schema>>) => unknown,
  status = 200,
): RequestHandler {
  return async (request, response) => {
    const bytes = await readBody(request, response);
    // A command without fields may have no body; curl then sends no Content-Type.
    const json = bytes.length === 0 ? {} : jsonOf(bytes, request.get('Content-Type'));
    answer(response, status, act({ body: parsed(schema, json), id: idOf(request) }));
  };
}

export function query<Schema extends z.ZodType>(
  schema: Schema,
  read: (query: z.output<Schema>, id: string) => unknown,
): RequestHandler {
  return (request, response) => answer(response, 200, read(parsed(schema, { ...request.query }), idOf(request)));
}

function idOf(request: Request): string {
  const id = request.params['id'];
  return typeof id === 'string' ? id : '';
}

function answer(response: Response, status: number, body: unknown): void {
  if (body === undefined) response.status(204).end();
  else response.status(status).json(body);
}
