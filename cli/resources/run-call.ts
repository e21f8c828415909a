import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type ApiClient, apiClient, ApiError, PAGE } from '#cli/api/api-client.ts';
import { apiCall, type Call, type Field, flagOf, valuesOf } from '#cli/resources/call.ts';
import type { CallDefinition } from '#cli/resources/definition.ts';
import type { CallOptions } from '#cli/resources/resource-command.ts';
import { type Output, printText, withoutControls } from '#cli/terminal/output.ts';
import { printItems, printObject } from '#cli/terminal/print-items.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';
import { type Page, Paged } from '#clients/typescript/src/paged.ts';
import type { Call as Request } from '#clients/typescript/src/transport.ts';
import type { Environment } from '#config/environment.ts';

export interface Typed {
  readonly ids: readonly string[];
  readonly options: CallOptions & Readonly<Record<string, unknown>>;
  readonly environment: Environment;
  readonly output?: Output;
  readonly notes?: Output;
}

export async function runCall(definition: CallDefinition, typed: Typed): Promise<void> {
  const { options, environment, output = process.stdout, notes = process.stderr } = typed;
  const call = await apiCall(definition.call);
  const api = apiClient(options, environment);
  switch (definition.prints) {
    case 'list': {
      const limit = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? PAGE);
      const found = await readList(api, call, typed, limit + 1);
      const { columns, none = 'Nothing was found.' } = definition;
      printItems(options, columns, found.slice(0, limit), { output, environment, none });
      if (found.length > limit) notes.write(`There are more than ${limit}: use --limit or --all.\n`);
      return;
    }
    case 'object': {
      const body = call.body === undefined ? undefined : bodyOf(call.body, options);
      const ask = async (query: object) => api.send('json', { ...requestOf(call, typed, query), body });
      const given = valuesOf(call.query, options);
      // The answer to a write is the caller's, so no more is asked for.
      const answer = await (body === undefined ? asOperator(call.query, given, ask) : ask(given));
      return printObject(options, answer, output, environment);
    }
    case 'file':
      await writeFile(api, call, typed, output);
  }
}

function requestOf(
  { operation, path }: Call,
  { ids, options: { idempotencyKey, wait } }: Typed,
  query: object,
): Request {
  const { id, method, idempotent = false, prefersWait = false } = operation;
  return {
    operation: id,
    method: method.toUpperCase(),
    path: path.reduce((all, name, at) => all.replace(`{${name}}`, encodeURIComponent(ids[at] ?? '')), operation.path),
    query,
    keyed: idempotent,
    prefers: prefersWait,
    options: { ...(idempotencyKey !== undefined && { idempotencyKey }), ...(wait !== undefined && { wait }) },
  };
}

async function readList(api: ApiClient, call: Call, typed: Typed, count: number): Promise<unknown[]> {
  const hasPages = call.query.some(({ name }) => name === 'cursor');
  const given = { ...valuesOf(call.query, typed.options), ...(hasPages && { limit: Math.min(PAGE, count) }) };
  return asOperator(call.query, given, async (query) => {
    const read = async (cursor: object) =>
      api.send<Page<unknown>>('json', requestOf(call, typed, { ...query, ...cursor }));
    return hasPages ? await new Paged(read).take(count) : (await read({})).data.slice(0, count);
  });
}

/** An earlier file stays if the call fails. */
async function writeFile(api: ApiClient, call: Call, typed: Typed, output: Output): Promise<void> {
  const { output: file } = typed.options;
  if (file === undefined) throw new UserError('Required, and not given: --output.', 'Give the file to write.');
  const request = requestOf(call, typed, valuesOf(call.query, typed.options));
  const isText = /^text\/|\+xml$/.test(call.operation.answers[200]?.contentType ?? '');
  const content = await api.send<string | Uint8Array>(isText ? 'text' : 'bytes', request);
  if (file !== '-') writeForOwner(file, typeof content === 'string' ? withoutControls(content) : content);
  else if (typeof content === 'string') printText(output, content);
  else output.write(content);
}

/** It may be data of customers: only the owner may read it, also in a file that existed. */
function writeForOwner(file: string, content: string | Uint8Array): void {
  const mode = 0o600;
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) chmodSync(file, mode);
  writeFileSync(file, content, { mode });
}

/** The key may lack the scope: then it asks without the operator's view. */
async function asOperator<Result>(
  fields: readonly Field[],
  given: Readonly<Record<string, unknown>>,
  call: (asked: object) => Promise<Result>,
): Promise<Result> {
  if (given['expand'] !== undefined || !fields.some(({ name }) => name === 'expand')) return await call(given);
  try {
    return await call({ ...given, expand: ['operations'] });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'missing_scope') return await call(given);
    throw error;
  }
}

/** @throws UserError when a required field is missing. */
function bodyOf(fields: readonly Field[], options: Typed['options']): Record<string, unknown> {
  const body = { ...(options.body !== undefined && readBody(options.body)), ...valuesOf(fields, options) };
  const missing = fields.filter(({ name, required }) => required && body[name] === undefined);
  if (missing.length === 0) return body;
  throw new UserError(
    `Required, and not given: ${missing.map(flagOf).join(', ')}.`,
    'Add what is missing, or give a JSON file with --body.',
  );
}

function readBody(file: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  } catch (error) {
    throw new UserError(`${file} cannot be read as JSON: ${messageOf(error)}.`, 'Give a file with one JSON object.');
  }
  throw new UserError(`${file} contains no JSON object.`, 'Give a file with one JSON object.');
}
