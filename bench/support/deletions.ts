/** The product while its sweeper deletes the history of ended work, and the same product that keeps it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { ScenarioResult } from '#bench/results.ts';
import { compare, type Comparison } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { forgettingVersion, Product, withPolicy } from '#bench/support/product.ts';
import { inTurn } from '#bench/support/rounds.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import { withClient } from '#cli/embedded/postgres.ts';

/** The same for both, so that they differ by the deletion only: each sweep costs something by itself. */
const SWEEPS = { every: '2s' };
/** So short that rows are deleted during a load. The history is kept for at least twice the tolerance. */
const SHORT_HISTORY = { history_kept: '6s' };
const SHORT_TOLERANCE = { timestamp_tolerance: '3s' };

const LOOK_EVERY_MS = 500;
/** On a busy machine a sweep comes late; one that has not come by then does not come. */
const DELETED_WITHIN_MS = 180_000;

/** Figures of the rounds of the product with and without deletion. */
interface Deleting<Figures> {
  readonly forgets: readonly Figures[];
  readonly keeps: readonly Figures[];
  /** How many rows were deleted. */
  readonly details: Readonly<Record<string, number>>;
}

/**
 * Measures the product while its sweeper deletes, and while it deletes nothing, in turn.
 *
 * @param round measures one of the two products once.
 * @returns undefined without `--forgets`. @throws Error when the sweeper deletes nothing, or leaves rows.
 */
export async function whileDeleting<Figures>(
  context: BenchContext,
  rounds: number,
  round: (product: Product) => Promise<Figures>,
): Promise<Deleting<Figures> | undefined> {
  const forgetting = await context.forgetting();
  if (forgetting === undefined) return undefined;
  const keeping = await context.product();
  context.say(`the same while the sweeper deletes, and while it does not: ${rounds} rounds in turn`);
  const deletions = new Deletions(forgetting);
  const figures = await inTurn(
    { keeps: () => round(keeping), forgets: () => deletions.during(() => round(forgetting)) },
    rounds,
  );
  const details = deletions.details();
  context.say(`the sweeper deleted ${details.rows_deleted} rows, ${details.rows_deleted_under_load} under load`);
  // The few orders of a quick run end before their history is due.
  if (context.mode === 'full' && details.rows_deleted_under_load === 0)
    throw new Error('the sweeper deleted nothing while orders were under way, so the figures say nothing of deletion');
  return { ...figures, details };
}

/** Compares one figure of each round. @param values the figure of a round. */
export function compareDeleting<Figures>(
  { forgets, keeps, details }: Deleting<Figures>,
  values: (rounds: readonly Figures[]) => readonly number[],
  common: Pick<Comparison, 'id' | 'measured' | 'unit' | 'better'>,
): ScenarioResult {
  const peer = { id: 'keeps', measured: 'The same product, whose sweeper finds nothing to delete' };
  return compare({ ...common, ours: values(forgets), peer: { ...peer, rounds: values(keeps) }, details });
}

/** Starts the product with a sweeper that runs often and keeps the history. */
export async function startKeeping(context: BenchServers): Promise<Product> {
  return Product.start(context, withPolicy(writePolicy(context, 'keeps', { sweeper: SWEEPS })));
}

/** Starts the product with a sweeper that runs often and deletes the history of ended work after seconds. */
export async function startForgetting(context: BenchServers): Promise<Product> {
  const policy = { sweeper: { ...SWEEPS, ...SHORT_HISTORY }, service_webhooks: SHORT_TOLERANCE };
  return Product.start(context, forgettingVersion(writePolicy(context, 'forgets', policy)));
}

type PolicyFile = Readonly<Record<string, Readonly<Record<string, string>>>>;

function writePolicy({ folder }: BenchServers, name: string, policy: PolicyFile): string {
  const file = join(folder, `policy-${name}.yaml`);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(policy));
  return file;
}

const history = z.tuple([z.object({ left: z.coerce.number().int(), deleted: z.coerce.number().int() })]);

/** Only the sweeper deletes rows of these two tables. */
const HISTORY = `select /* bench */
  (select count(*) from timeline) + (select count(*) from inbox) as left,
  (select sum(n_tup_del) from pg_stat_user_tables where relname in ('timeline', 'inbox')) as deleted`;

/** Counts what the sweeper of a product deletes in one scenario. */
class Deletions {
  readonly #product: Product;
  #underLoad = 0;
  #total = 0;

  constructor(product: Product) {
    this.#product = product;
  }

  /**
   * Runs a load, and then waits until its history is deleted: what is left would be deleted in another's turn.
   *
   * @throws Error when the sweeper deletes nothing, or leaves rows.
   */
  async during<Result>(load: () => Promise<Result>): Promise<Result> {
    const before = await this.#read();
    const result = await load();
    this.#underLoad += (await this.#read()).deleted - before.deleted;
    this.#total += (await this.#everything(before.deleted)) - before.deleted;
    return result;
  }

  /**
   * Rows of `timeline` and `inbox` that were deleted, in all and before their load ended. PostgreSQL counts the rows of
   * a connection up to ten seconds late, so both are rather too low.
   */
  details() {
    return { rows_deleted: this.#total, rows_deleted_under_load: this.#underLoad };
  }

  /** Waits until no history is left. @returns what was deleted since the database exists. */
  async #everything(before: number): Promise<number> {
    const deadline = Date.now() + DELETED_WITHIN_MS;
    for (;;) {
      const { left, deleted } = await this.#read();
      if (left === 0 && deleted > before) return deleted;
      if (Date.now() > deadline) {
        throw new Error(
          `the sweeper deleted ${deleted - before} rows within ${DELETED_WITHIN_MS / 1_000} s after the load, and ` +
            `${left} are left: with --forgets it must delete the history of all ended orders`,
        );
      }
      await delay(LOOK_EVERY_MS);
    }
  }

  async #read(): Promise<{ readonly left: number; readonly deleted: number }> {
    const answer = await withClient(this.#product.databaseUrl, async (client) => client.query<object>(HISTORY));
    return history.parse(answer.rows)[0];
  }
}
