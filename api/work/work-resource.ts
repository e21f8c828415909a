/** A kind of work, for the calls that all kinds share. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { Problem } from '#api/problems/problem.ts';
import type { Expansion } from '#api/work/expand.ts';
import type { operationsOutput } from '#api/work/work-schemas.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkFilter, StoredWork, WorkReads } from '#db/work/work-reads.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** What an operator needs beside what a shop sees. */
export type OperationsJson = z.input<typeof operationsOutput>;

/** Work with the operator's view; each kind adds fields. What of it a caller sees is decided by `expand.ts`. */
export interface WorkJson {
  readonly id: string;
  readonly status: WorkStatus;
  readonly failure: {
    readonly class: FailureClass;
    readonly detail: string | null;
    readonly service_message: string | null;
    readonly advice: string;
  } | null;
  readonly attention: { readonly reason: AttentionReason; readonly meaning: string } | null;
  /** Of a kind that has one. */
  readonly esim_id?: string | null;
  readonly operations: OperationsJson;
}

interface ResolutionField {
  readonly field: `service_${string}_id`;
  readonly description: string;
}

export interface WorkResource {
  readonly kind: WorkKind;
  /** The name used in operation ids: `Order` in `getOrder`. */
  readonly name: string;
  readonly tag: string;
  readonly output: z.ZodType;
  readonly exampleId: string;
  /** What its answers embed on request, beside the operator's view. */
  readonly expansions: readonly Expansion[];
  /** Fields of a verdict with the ids of the purchase at the service. */
  readonly resolution: {
    readonly serviceId: ResolutionField;
    /** For a kind that delivers an eSIM. */
    readonly serviceEsimId?: ResolutionField;
  };
  /** The currency of the price of work, for a kind that has one; undefined while it is not known. */
  readonly priceCurrency?: (found: WorkJson) => Promise<string | undefined>;
  /** Reads work of the owner, redacted for a key that is limited to its own work. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
  /** As {@link find}, by one read of the database for all callers that wait. */
  findTogether(id: string, owner: Owner): Promise<WorkJson | undefined>;
}

/** The two reads of a resource. @param show stored work as the API shows it to an owner. */
export function findersOf<Stored extends StoredWork>(
  { database }: Pick<ApiDependencies, 'database'>,
  reads: Pick<WorkReads<Stored, WorkFilter>, 'find' | 'page'>,
  show: (stored: Stored, owner: Owner) => WorkJson,
): Pick<WorkResource, 'find' | 'findTogether'> {
  const findTogether = together<{ readonly id: string; readonly owner: Owner }, Stored | undefined>(async (asked) =>
    database.run(async (db) => {
      const found = new Map<Owner, ReadonlyMap<string, Stored>>();
      for (const [owner, ofOwner] of Map.groupBy(asked, (each) => each.owner)) {
        const ids = [...new Set(ofOwner.map(({ id }) => id))];
        const rows = await reads.page(db, owner, { ids }, { limit: ids.length, after: undefined });
        found.set(owner, new Map(rows.map((stored) => [stored.row.id, stored])));
      }
      return ({ id, owner }) => found.get(owner)?.get(id);
    }),
  );
  return {
    find: async (db, id, owner) => {
      const stored = await reads.find(db, id, owner);
      return stored && show(stored, owner);
    },
    findTogether: async (id, owner) => {
      const stored = await findTogether({ id, owner });
      return stored && show(stored, owner);
    },
  };
}

const MAX_KEYS = 500;

/**
 * Lets callers share reads: one read serves all keys that are asked for in the same turn, or while an earlier read is
 * under way. A read begins after it was asked for, so that it misses no change that its callers know of.
 *
 * @param readAll returns what it found for each key.
 */
function together<Key, Found>(
  readAll: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): (key: Key) => Promise<Found> {
  let next: { readonly keys: Key[]; readonly found: Promise<(key: Key) => Found> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const begin = () => {
    const keys: Key[] = [];
    const found = last.then(nextTurn).then(() => {
      if (next?.keys === keys) next = undefined;
      return readAll(keys);
    });
    last = found.catch(() => undefined);
    return { keys, found };
  };
  return async (key) => {
    if (next === undefined || next.keys.length >= MAX_KEYS) next = begin();
    const { keys, found } = next;
    keys.push(key);
    return (await found)(key);
  };
}

/** The problem for an unknown id. */
export function notFound({ kind }: Pick<WorkResource, 'kind'>): Problem {
  return new Problem(`${kind}_not_found`);
}
