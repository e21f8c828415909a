/** Makes the call of a command and prints its answer. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { type Caller, typedCaller } from '#cli/api/typed-client.ts';
import {
  describedCall,
  type CallDefinition,
  type FileDefinition,
  type ListDefinition,
} from '#cli/resources/definition.ts';
import type { DescribedField } from '#cli/resources/described-call.ts';
import { flagOf, valuesOf } from '#cli/resources/fields.ts';
import type { CallOptions } from '#cli/resources/resource-command.ts';
import { type Output, printText } from '#cli/terminal/output.ts';
import { printItems, printObject } from '#cli/terminal/tables/print-items.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';
import { withoutControls } from '#cli/terminal/visible-text.ts';
import { isProblem, Paged, type ResellerClient } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

/** Largest page of the API. */
const PAGE = 100;

/** A call with everything that was typed. */
export interface Typed {
  readonly ids: readonly string[];
  readonly options: CallOptions & Readonly<Record<string, unknown>>;
  readonly environment: Environment;
  readonly output?: Output;
  /** For notes that are no part of the result. */
  readonly notes?: Output;
}

/** Runs one command of a resource. @throws UserError for refusals, lost answers and missing options. */
export async function runCall(definition: CallDefinition, typed: Typed): Promise<void> {
  const { options, environment, output = process.stdout } = typed;
  const caller = typedCaller(options, environment);
  if (definition.prints === 'list') return await runList(definition, typed, caller, output);
  if (definition.prints === 'file') return await runFile(definition, typed, caller, output);
  const { query, body } = describedCall(definition.call);
  const given = valuesOf(query, options);
  const answer = await caller(async (client) => {
    // A call with a body takes its query with the options.
    if (body !== undefined)
      return invoke(client, definition.call, [
        ...typed.ids,
        bodyOf(definition, options),
        { ...given, ...callOptions(options) },
      ]);
    return asOperator(query, given, async (asked) =>
      invoke(client, definition.call, [...typed.ids, ...(query.length === 0 ? [] : [asked]), callOptions(options)]),
    );
  });
  printObject(options, answer, output, environment);
}

async function runList(definition: ListDefinition, typed: Typed, caller: Caller, output: Output): Promise<void> {
  const { options, environment, notes = process.stderr } = typed;
  const limit = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? PAGE);
  const found = await caller((client) => readList(definition, client, typed, limit + 1));
  const { columns, none = 'Nothing was found.' } = definition;
  printItems(options, columns, found.slice(0, limit), { output, environment, none });
  if (found.length > limit) notes.write(`There are more than ${limit}: use --limit or --all.\n`);
}

/** Writes the file only when all of it was read: an earlier file stays if the call fails. */
async function runFile({ call }: FileDefinition, typed: Typed, caller: Caller, output: Output): Promise<void> {
  const { output: file } = typed.options;
  if (file === undefined) throw new UserError('Required, and not given: --output.', 'Give the file to write.');
  const { query } = describedCall(call);
  const args = [...typed.ids, ...(query.length === 0 ? [] : [valuesOf(query, typed.options)])];
  const content = z
    .union([z.string(), z.instanceof(Uint8Array)])
    .parse(await caller(async (client) => invoke(client, call, args)));
  const isText = typeof content === 'string';
  if (file !== '-') writeForOwner(file, isText ? withoutControls(content) : content);
  else if (isText) printText(output, content);
  else output.write(content);
}

/** Data of customers, or an activation code: only the owner of the file may read it, also of one that existed. */
function writeForOwner(file: string, content: string | Uint8Array): void {
  const mode = 0o600;
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) chmodSync(file, mode);
  writeFileSync(file, content, { mode });
}

async function readList(
  { call }: ListDefinition,
  client: ResellerClient,
  { ids, options }: Typed,
  count: number,
): Promise<unknown[]> {
  const { query } = describedCall(call);
  const hasPages = query.some(({ name }) => name === 'cursor');
  const given = { ...valuesOf(query, options), ...(hasPages && { limit: Math.min(PAGE, count) }) };
  return asOperator(query, given, async (asked) => {
    const answer = invoke(client, call, [...ids, ...(query.length === 0 ? [] : [asked])]);
    const pages: Paged<unknown> | undefined = answer instanceof Paged ? answer : undefined;
    if (pages !== undefined) return await pages.take(count);
    const { data } = (await answer) as { readonly data: readonly unknown[] };
    return data.slice(0, count);
  });
}

/** Asks for the operator's view of work, and without it if the key lacks its scope. */
async function asOperator<Result>(
  fields: readonly DescribedField[],
  given: Readonly<Record<string, unknown>>,
  call: (asked: object) => Promise<Result>,
): Promise<Result> {
  if (given['expand'] !== undefined || !fields.some(({ name }) => name === 'expand')) return await call(given);
  try {
    return await call({ ...given, expand: ['operations'] });
  } catch (error) {
    if (isProblem(error, 'missing_scope')) return await call(given);
    throw error;
  }
}

/**
 * Calls a method of the client by its name. The arguments come from the description from which the method was
 * generated; the API checks their values.
 */
function invoke(client: ResellerClient, call: keyof ResellerClient, args: readonly unknown[]): unknown {
  const method: unknown = client[call];
  if (typeof method !== 'function') throw new TypeError(`the client has no method ${call}`);
  return Reflect.apply(method, client, args) as unknown;
}

function callOptions({ idempotencyKey, wait }: CallOptions) {
  return { ...(idempotencyKey !== undefined && { idempotencyKey }), ...(wait !== undefined && { wait }) };
}

/** The body of a file, with the fields of the options. @throws UserError when a field that is required is missing. */
function bodyOf({ call }: CallDefinition, options: Typed['options']): Record<string, unknown> {
  const fields = describedCall(call).body ?? [];
  const body = { ...(options.body !== undefined && readBody(options.body)), ...valuesOf(fields, options) };
  const missing = fields.filter(({ name, required }) => required === true && body[name] === undefined);
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
