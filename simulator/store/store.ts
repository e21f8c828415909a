import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type * as z from 'zod';
import { LEDGER_GUARD, LIFT_LEDGER_GUARD, SCHEMA, SCHEMA_VERSION, type Tables } from '#simulator/store/rows.ts';

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
type Parameters = Readonly<Record<string, SQLInputValue>>;
/** A member that is undefined is no condition. */
export type Filter<Row> = { readonly [Column in keyof Row]?: Row[Column] | undefined };
export type Listed = {
  [Name in keyof Tables]: Tables[Name] extends { readonly sequence: number } ? Name : never;
}[keyof Tables];

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

  /** @param rest of the statement, from `WHERE` on. */
  rows<Name extends keyof Tables>(table: Name, rest: string, parameters: Parameters = {}): Tables[Name][] {
    const rows: unknown[] = this.#statement(`SELECT * FROM ${table} ${rest}`).all(parameters);
    // A cast: the tables are STRICT and check their words, so the database keeps to the types.
    return rows as Tables[Name][];
  }

  get<Name extends keyof Tables>(table: Name, filter: Filter<Tables[Name]>): Tables[Name] | undefined {
    const parameters = given(filter);
    return this.rows(table, `WHERE ${matching(parameters)} LIMIT 1`, parameters)[0];
  }

  list<Name extends Listed>(
    table: Name,
    filter: Filter<Tables[Name]>,
    { cursor, limit }: Page,
    order: ListOrder,
  ): Tables[Name][] {
    const first = order === 'oldestFirst';
    const parameters = given(filter);
    return this.rows(
      table,
      `WHERE ${matching(parameters)} AND sequence ${first ? '>' : '<'} :cursor
       ORDER BY sequence ${first ? 'ASC' : 'DESC'} LIMIT :limit`,
      { ...parameters, cursor: cursor ?? (first ? 0 : Number.MAX_SAFE_INTEGER), limit },
    );
  }

  insert<Name extends keyof Tables>(table: Name, row: Partial<Tables[Name]>, verb: 'INSERT' | 'REPLACE' = 'INSERT') {
    const columns = Object.keys(row);
    const values = columns.map((column) => `:${column}`).join(', ');
    this.run(`${verb} INTO ${table} (${columns.join(', ')}) VALUES (${values})`, given(row));
  }

  /** @returns the number of changed rows. */
  change<Name extends keyof Tables>(table: Name, filter: Filter<Tables[Name]>, changes: Partial<Tables[Name]>): number {
    const where = given(filter);
    const set = Object.entries(given(changes));
    const assignments = set.map(([column]) => `${column} = :new_${column}`).join(', ');
    const values = Object.fromEntries(set.map(([column, value]) => [`new_${column}`, value]));
    return this.run(`UPDATE ${table} SET ${assignments} WHERE ${matching(where)}`, { ...where, ...values });
  }

  remove<Name extends keyof Tables>(table: Name, filter: Filter<Tables[Name]> = {}): number {
    const where = given(filter);
    return this.run(`DELETE FROM ${table} WHERE ${matching(where)}`, where);
  }

  counts(from: string, column: string, filter: object): Record<string, number> {
    const parameters = given(filter);
    const sql = `SELECT ${column} AS value, count(*) AS count FROM ${from} WHERE ${matching(parameters)} GROUP BY 1`;
    const rows = this.#statement(sql).all(parameters);
    return Object.fromEntries(rows.map(({ value, count }) => [String(value), Number(count)]));
  }

  least(column: string, from: string, parameters: Parameters = {}): number | undefined {
    const least = this.#statement(`SELECT min(${column}) AS least FROM ${from}`).get(parameters)?.['least'];
    return typeof least === 'number' ? least : undefined;
  }

  run(sql: string, parameters: Parameters = {}): number {
    return Number(this.#statement(sql).run(parameters).changes);
  }

  setting<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined {
    const row = this.get('settings', { name });
    return row === undefined ? undefined : schema.parse(JSON.parse(row.value));
  }

  set(name: string, value: unknown): void {
    this.insert('settings', { name, value: JSON.stringify(value) }, 'REPLACE');
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
  nextSequence(table: Listed): number {
    return (this.least('seq', 'sqlite_sequence WHERE name = :table', { table }) ?? 0) + 1;
  }

  reset(): void {
    this.transaction(() => {
      this.#sqlite.exec(LIFT_LEDGER_GUARD);
      for (const { name } of this.#statement(TABLES).all()) this.#sqlite.exec(`DELETE FROM ${String(name)}`);
      this.#sqlite.exec('DELETE FROM sqlite_sequence');
      this.#sqlite.exec(LEDGER_GUARD);
    });
  }

  close(): void {
    this.#sqlite.close();
  }
}

const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";

function given(columns: object): Record<string, SQLInputValue> {
  return Object.fromEntries(
    Object.entries(columns).filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined),
  );
}

function matching(parameters: Parameters): string {
  return ['true', ...Object.keys(parameters).map((column) => `${column} = :${column}`)].join(' AND ');
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
