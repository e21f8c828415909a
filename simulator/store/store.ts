import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import * as z from 'zod';
import { LEDGER_GUARD, LIFT_LEDGER_GUARD, SCHEMA, SCHEMA_VERSION } from '#simulator/store/schema.ts';

/** All data except packages and settings belongs to exactly one. */
export const ENVIRONMENTS = ['production', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export interface Page {
  readonly cursor: number | undefined;
  readonly limit: number;
}

/** Takes one row more than the page has. */
export function pageOfRows<Row extends { readonly sequence: number }>(
  rows: readonly Row[],
  limit: number,
): { items: readonly Row[]; nextCursor: number | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? last.sequence : null };
}

export type ListOrder = 'newestFirst' | 'oldestFirst';
type Filter = Readonly<Record<string, SQLInputValue | undefined>>;
type Parameters = Readonly<Record<string, SQLInputValue>>;

export class StoreError extends Error {
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.advice = advice;
  }
}

/** Calls are synchronous, so code without `await` cannot be interleaved. */
export class Store {
  readonly #sqlite: DatabaseSync;
  /** Prepared once; all texts are constants. */
  readonly #statements = new Map<string, StatementSync>();

  /** @throws StoreError when another process uses the file, another version created it, or it is no database. */
  constructor(file: string) {
    this.#sqlite = open(file);
  }

  all<Schema extends z.ZodObject>(schema: Schema, sql: string, parameters: Parameters = {}): z.output<Schema>[] {
    return this.#statement(sql)
      .all(parameters)
      .map((row) => schema.parse(camelCased(row)));
  }

  get<Schema extends z.ZodObject>(
    schema: Schema,
    sql: string,
    parameters: Parameters = {},
  ): z.output<Schema> | undefined {
    const row = this.#statement(sql).get(parameters);
    return row === undefined ? undefined : schema.parse(camelCased(row));
  }

  list<Schema extends z.ZodObject>(
    schema: Schema,
    table: string,
    filter: Filter,
    { cursor, limit }: Page,
    order: ListOrder,
  ): z.output<Schema>[] {
    const first = order === 'oldestFirst';
    const { where, parameters } = matching(filter);
    return this.all(
      schema,
      `SELECT * FROM ${table} WHERE ${where} AND sequence ${first ? '>' : '<'} :cursor
       ORDER BY sequence ${first ? 'ASC' : 'DESC'} LIMIT :limit`,
      { ...parameters, cursor: cursor ?? (first ? 0 : Number.MAX_SAFE_INTEGER), limit },
    );
  }

  counts(table: string, column: string, filter: Filter): Record<string, number> {
    const { where, parameters } = matching(filter);
    const sql = `SELECT ${column} AS value, count(*) AS count FROM ${table} WHERE ${where} GROUP BY 1`;
    return Object.fromEntries(this.all(counted, sql, parameters).map(({ value, count }) => [value, count]));
  }

  least(column: string, from: string, parameters: Parameters = {}): number | undefined {
    return this.get(leastValue, `SELECT min(${column}) AS least FROM ${from}`, parameters)?.least ?? undefined;
  }

  run(sql: string, parameters: Parameters = {}): number {
    return Number(this.#statement(sql).run(parameters).changes);
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Joins an open transaction. An error rolls the whole transaction back. */
  transaction<Result>(work: () => Result): Result {
    if (this.#sqlite.isTransaction) return work();
    this.run('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.run('ROLLBACK');
      throw error;
    }
  }

  /** Ids are derived from it. */
  nextSequence(table: string): number {
    return (this.least('seq', 'sqlite_sequence WHERE name = :table', { table }) ?? 0) + 1;
  }

  reset(): void {
    this.transaction(() => {
      this.#sqlite.exec(LIFT_LEDGER_GUARD);
      for (const { name } of this.all(tableName, TABLES)) this.#sqlite.exec(`DELETE FROM ${name}`);
      this.#sqlite.exec('DELETE FROM sqlite_sequence');
      this.#sqlite.exec(LEDGER_GUARD);
    });
  }

  close(): void {
    this.#sqlite.close();
  }
}

function open(file: string): DatabaseSync {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  let sqlite: DatabaseSync | undefined;
  try {
    sqlite = new DatabaseSync(file);
    // Exclusive: a second simulator on the file is refused, so that two sets of timers never mix. NORMAL survives a
    // killed process, not a power failure. Only checkpoints wait for the disk; they come every 32 MB of log.
    sqlite.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ' +
        'PRAGMA wal_autocheckpoint = 8000;',
    );
    migrate(sqlite, file);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    if (error instanceof StoreError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const advice = /locked/.test(reason)
      ? 'Another simulator uses it: stop that one, or set SIMULATOR_DATA to another file.'
      : 'Set SIMULATOR_DATA to a writable file, or remove this one to start with an empty simulator.';
    throw new StoreError(`The data file ${file} cannot be used: ${reason}.`, advice, { cause: error });
  }
}

function migrate(sqlite: DatabaseSync, file: string): void {
  const version = Number(sqlite.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (version === SCHEMA_VERSION) return;
  if (version !== 0) {
    throw new StoreError(
      `The data file ${file} has the format ${version} of another simulator version; this one needs format ` +
        `${SCHEMA_VERSION}.`,
      'Remove the file to start with an empty simulator.',
    );
  }
  sqlite.exec(`BEGIN; ${SCHEMA} ${LEDGER_GUARD} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
}

const camelNames = new Map<string, string>();

function camelCased(row: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name in row) {
    let camel = camelNames.get(name);
    if (camel === undefined) {
      camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      camelNames.set(name, camel);
    }
    result[camel] = row[name];
  }
  return result;
}

function matching(filter: Filter): { readonly where: string; readonly parameters: Parameters } {
  const given = Object.entries(filter).filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined);
  const where = ['true', ...given.map(([column]) => `${column} = :${column}`)].join(' AND ');
  return { where, parameters: Object.fromEntries(given) };
}

const counted = z.object({ value: z.string(), count: z.number() });
const leastValue = z.object({ least: z.number().nullable() });
const tableName = z.object({ name: z.string() });
const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
