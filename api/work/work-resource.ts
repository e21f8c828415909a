import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Expansion } from '#api/work/expand.ts';
import type { operationsOutput } from '#api/work/work-schemas.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkFilter, StoredWork, WorkReads } from '#db/work/work-reads.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { together } from '#telemetry/waiting.ts';

export type OperationsJson = z.input<typeof operationsOutput>;

/** Each kind adds fields. `expand.ts` decides what of it a caller sees. */
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
  readonly esim_id?: string | null;
  readonly operations: OperationsJson;
}

interface ResolutionField {
  readonly field: `service_${string}_id`;
  readonly description: string;
}

export interface WorkResource {
  readonly kind: WorkKind;
  /** `Order` in `getOrder`. */
  readonly name: string;
  readonly output: z.ZodType;
  readonly expansions: readonly Expansion[];
  readonly resolution: {
    readonly serviceId: ResolutionField;
    readonly serviceEsimId?: ResolutionField;
  };
  /** Undefined while it is not known. */
  readonly priceCurrency?: (found: WorkJson) => Promise<string | undefined>;
  /** Redacted for a key that is limited to its own work. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
  /** By one read of the database for all callers that wait. */
  findTogether(id: string, owner: Owner): Promise<WorkJson | undefined>;
}

export function findersOf<Stored extends StoredWork>(
  { database }: Pick<ApiDependencies, 'database'>,
  reads: WorkReads<Stored, WorkFilter>,
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
