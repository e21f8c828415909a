import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import * as z from 'zod';
import {
  LEDGER_GUARD,
  LIFT_LEDGER_GUARD,
  SCHEMA,
  SCHEMA_VERSION,
  TABLES,
  type Table,
} from '#simulator/store/schema.ts';

type Parameters = Readonly<Record<string, SQLInputValue>>;

/** A prepared statement that reads rows of one shape, with column names in camelCase. */
export interface Query<Row> {
  get(parameters?: Parameters): Row | undefined;
  all(parameters?: Parameters): Row[];
}

/** A prepared statement that changes rows. */
export interface Command {
  /** @returns the number of rows it changed. */
  run(parameters: Parameters): number;
}

/** The data file cannot be used; the message says why. */
export class StoreError extends Error {
  readonly advice: string;

  /** @param advice for a simulator that runs alone. */
  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.advice = advice;
  }
}

/** The simulator's state in one SQLite file. Calls are synchronous, so code without `await` cannot be interleaved. */
export class Store {
  readonly #sqlite: DatabaseSync;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  readonly #lastSequence;

  /**
   * @param file path of the data file, created when absent, or `:memory:`.
   * @throws StoreError when another process uses it, another version created it, or it is not a database.
   */
  constructor(file: string) {
    this.#sqlite = open(file);
    this.#begin = this.#sqlite.prepare('BEGIN IMMEDIATE');
    this.#commit = this.#sqlite.prepare('COMMIT');
    this.#rollback = this.#sqlite.prepare('ROLLBACK');
    this.#lastSequence = this.query(
      z.object({ seq: z.number() }),
      'SELECT seq FROM sqlite_sequence WHERE name = :table',
    );
  }

  query<Schema extends z.ZodObject>(schema: Schema, sql: string): Query<z.output<Schema>> {
    const statement = this.#sqlite.prepare(sql);
    const read = (row: Record<string, unknown>): z.output<Schema> => schema.parse(camelCased(row));
    return {
      get: (parameters = {}) => {
        const row = statement.get(parameters);
        return row === undefined ? undefined : read(row);
      },
      all: (parameters = {}) => statement.all(parameters).map(read),
    };
  }

  command(sql: string): Command {
    const statement = this.#sqlite.prepare(sql);
    return { run: (parameters) => Number(statement.run(parameters).changes) };
  }

  /** Runs `work` in one transaction, or in the open one. An error rolls the whole transaction back. */
  transaction<Result>(work: () => Result): Result {
    if (this.#sqlite.isTransaction) return work();
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#rollback.run();
      throw error;
    }
  }

  /** The sequence number of the next row of `table`; ids are derived from it. */
  nextSequence(table: Table): number {
    return (this.#lastSequence.get({ table })?.seq ?? 0) + 1;
  }

  /** Empties every table. */
  reset(): void {
    this.transaction(() => {
      this.#sqlite.exec(LIFT_LEDGER_GUARD);
      for (const table of TABLES) this.#sqlite.exec(`DELETE FROM ${table}`);
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
    // Exclusive lock: a second simulator on the same file is refused, so that two sets of timers never mix. NORMAL
    // survives a killed process; only a power failure can lose the last transactions. Only checkpoints wait for the
    // disk, so they are made rare: every 32 MB of log.
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
