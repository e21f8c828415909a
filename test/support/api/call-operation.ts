import type { Operation } from '#api/http/operation.ts';
import type { HttpAnswer, HttpCall, HttpClient } from '#test/support/network/http.ts';

/** Calls an operation. @param id stands for each parameter of its path. */
export const callOperation = (
  client: HttpClient,
  { method, path }: Pick<Operation, 'method' | 'path'>,
  call: HttpCall = {},
  id = 'x',
): Promise<HttpAnswer> => client.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, id), call);
