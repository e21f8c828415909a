import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { type Queue, takeFacts, takeRowsAdded } from '#db/connection/after-commit.ts';
import { PreparingClient, UnpreparedClient } from '#db/connection/prepared-statements.ts';
import type { WorkFact } from '#domain/work/work-fact.ts';

export type Executor = NodePgDatabase;

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** A pooler in transaction mode, such as PgBouncer: transactions set the limits. */
  readonly isPooled?: boolean;
  readonly applicationName: string;
  /**
   * All statements are prepared by name, not only those that are built once. Not for lists: one plan for all values of
   * their filters would be dangerous.
   */
  readonly prepares?: boolean;
  readonly onConnectionError: (error: Error) => void;
  /** Called after a commit; must not throw. Without it the slow poll finds the rows. */
  readonly onRowsAdded?: (queues: ReadonlySet<Queue>) => void;
  /** Called after a commit, in the order of the facts; must not throw. */
  readonly onFacts?: (facts: readonly WorkFact[]) => void;
}

/** The caller may retry; whether a commit succeeded is unknown. */
export class DatabaseUnavailableError extends Error {
  constructor(cause: unknown) {
    super('PostgreSQL is not available', { cause });
    this.name = 'DatabaseUnavailableError';
  }
}

// Waiting for a lock longer than the shortest deadline of the service would only pile up work.
const CONNECT_TIMEOUT_MS = 5_000;
/** A new connection has no plans and no caches. By default the driver closes one after ten idle seconds. */
const IDLE_TIMEOUT_MS = 10 * 60_000;
/** Milliseconds. */
const LIMITS = {
  statement_timeout: 15_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 30_000,
} as const;
const TRANSACTION_TRIES = 5;
const SETTING_LIMITS = Object.entries(LIMITS).map(([name, ms]) => `SET LOCAL ${name} = ${ms}`);
const BEGIN_WITH_LIMITS = ['BEGIN', ...SETTING_LIMITS].join('; ');
/** SQLSTATE after a wait of more than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

export class Database {
  readonly #pool: pg.Pool;
  readonly #isPooled: boolean;
  readonly #onRowsAdded: DatabaseOptions['onRowsAdded'];
  readonly #onFacts: DatabaseOptions['onFacts'];
  /** One for each connection: with it live the statements that are built once. */
  readonly #executors = new WeakMap<pg.PoolClient, Executor>();
  readonly executor: Executor;

  constructor(options: DatabaseOptions) {
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize,
      application_name: options.applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      // A half-open connection never answers, so the client has its own timeout. It begins when a statement is sent.
      query_timeout: LIMITS.statement_timeout + 5_000,
      keepAlive: true,
      // For `sendTogether`.
      pipeline: true,
      ...(options.isPooled === true ? { Client: UnpreparedClient } : LIMITS),
      ...(options.isPooled !== true && options.prepares === true && { Client: PreparingClient }),
    });
    this.#isPooled = options.isPooled ?? false;
    this.#onRowsAdded = options.onRowsAdded;
    this.#onFacts = options.onFacts;
    this.#pool.on('error', options.onConnectionError);
    this.executor = drizzle(this.#pool);
  }

  /**
   * A serialization failure, a deadlock or a stale plan runs `work` again, so it must have no effect outside the
   * transaction.
   * @param options.waitsForLocks also after a wait for a lock. For facts that cannot be read again, such as the answer
   *   to a purchase.
   * @throws DatabaseUnavailableError when the connection breaks. The commit may have happened: read its unique key.
   */
  async transaction<Result>(
    work: (tx: Executor) => Promise<Result>,
    { waitsForLocks = false }: { readonly waitsForLocks?: boolean } = {},
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(work);
      } catch (error) {
        const isLocked = waitsForLocks && sqlState(error) === LOCK_NOT_AVAILABLE;
        const isAgain = isSerializationFailure(error) || isStalePlan(error) || isLocked;
        if (attempt < TRANSACTION_TRIES && isAgain) continue;
        throw asUnavailable(error);
      }
    }
  }

  /** @throws DatabaseUnavailableError when PostgreSQL cannot be reached. */
  async run<Result>(work: (db: Executor) => Promise<Result>): Promise<Result> {
    try {
      // Behind a pooler, only a transaction has limits.
      return await (this.#isPooled ? this.#once(work) : work(this.executor));
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      this.#announce(this.executor);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #executorOf(client: pg.PoolClient): Executor {
    const executor = this.#executors.get(client) ?? drizzle(client);
    this.#executors.set(client, executor);
    return executor;
  }

  #announce(executor: Executor): void {
    const added = takeRowsAdded(executor);
    if (added !== undefined) this.#onRowsAdded?.(added);
    const facts = takeFacts(executor);
    if (facts.length > 0) this.#onFacts?.(facts);
  }

  async #once<Result>(work: (tx: Executor) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    const tx = this.#executorOf(client);
    // Without a listener a connection that dies while checked out would end the process.
    let broken: Error | undefined;
    const onError = (error: Error) => (broken = error);
    client.on('error', onError);
    let failure: Error | undefined;
    try {
      await client.query(this.#isPooled ? BEGIN_WITH_LIMITS : 'BEGIN');
      const result = await work(tx);
      // An aborted transaction answers COMMIT with ROLLBACK and no error.
      const ended = await client.query('COMMIT');
      if (ended.command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed');
      this.#announce(tx);
      return result;
    } catch (error) {
      failure = await rollBack(client, error);
      // All statements of the transaction have ended by now, also those that were sent together with the failed one.
      takeRowsAdded(tx);
      takeFacts(tx);
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken ?? failure ?? false);
    }
  }
}

type Statement = (() => PromiseLike<unknown>) | undefined;
type ResultsOf<Statements> = {
  -readonly [Place in keyof Statements]: Statements[Place] extends () => PromiseLike<infer Result> ? Result : undefined;
};

/** SQLSTATE of what follows a failed statement in its transaction, and of a prepared one that was refused by this. */
const FOLLOW_UPS: ReadonlySet<string | undefined> = new Set(['25P02', '26000']);

/**
 * Sends statements of a transaction together, in their order. Ends when all have ended, so that none is sent after a
 * rollback. @throws the error of the statement that failed, not of those that PostgreSQL refused because of it.
 */
export async function sendTogether<const Statements extends readonly Statement[]>(
  statements: Statements,
): Promise<ResultsOf<Statements>> {
  // `then` starts a statement of the query builder, which would otherwise start later than a function.
  const sent = statements.map((send) => Promise.resolve(send?.().then((result) => result)));
  const ended = await Promise.allSettled(sent);
  const failures = ended.filter((each) => each.status === 'rejected');
  const first = failures.find(({ reason }) => !FOLLOW_UPS.has(sqlState(reason))) ?? failures[0];
  // Rejects with its error.
  if (first !== undefined) await sent[ended.indexOf(first)];
  const results: unknown = ended.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
  // One result for each statement, in their order.
  return results as ResultsOf<Statements>;
}

async function rollBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  if (isConnectionError(error)) return error as Error;
  try {
    await client.query('ROLLBACK');
    return isStalePlan(error) ? (error as Error) : undefined;
  } catch (rollbackError) {
    return rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
  }
}

/** Drizzle wraps the error of PostgreSQL. */
function databaseErrorIn(error: unknown): pg.DatabaseError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof pg.DatabaseError) return current;
  }
  return undefined;
}

export function sqlState(error: unknown): string | undefined {
  return databaseErrorIn(error)?.code;
}

/** SQLSTATE classes 22 (data exception) and 23 (constraint violation): a retry would fail again. */
export function isBadData(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

export function violatedConstraint(error: unknown): string | undefined {
  return databaseErrorIn(error)?.constraint;
}

function isSerializationFailure(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** A statement of this connection was prepared before its table was changed: another connection knows the change. */
function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000';
}

/** Messages of the driver. */
const BROKEN_CONNECTION = [
  /Connection terminated/i,
  /connection error and is not queryable/i,
  /timeout exceeded when trying to connect/i,
  /Query read timeout/i,
];

/** 08: connection exceptions; 57P01–57P03: the server shuts down or starts; 53300: too many connections. */
function isConnectionError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith('08') || /^57P0[1-3]$/.test(state) || state === '53300';
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as NodeJS.ErrnoException).code;
    if (code !== undefined && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT|EHOSTUNREACH)/.test(code))
      return true;
    const { message } = current;
    if (BROKEN_CONNECTION.some((text) => text.test(message))) return true;
  }
  return false;
}

function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailableError || !isConnectionError(error)) return error;
  return new DatabaseUnavailableError(error);
}
