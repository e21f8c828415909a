/**
 * Stores each webhook exactly once and classifies it: new, duplicate, replay of signed content under another id, or
 * conflict.
 */
import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import { DatabaseUnavailableError, type Database, type Executor, isBadData } from '#db/connection/database.ts';
import { prepared, UNNAMED } from '#db/connection/prepared-statements.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { inbox } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { together } from '#telemetry/waiting.ts';

type NewRow = Omit<typeof inbox.$inferInsert, 'source'>;

/** `note`: why it is quarantined or ignored. */
export type ParsedWebhook = Pick<
  NewRow,
  'note' | 'event' | 'subjectKind' | 'reference' | 'serviceId' | 'serviceEsimId' | 'outcome'
> & { readonly state: 'pending' | 'quarantined' | 'ignored' };

export interface VerifiedWebhook {
  readonly deliveryId: string;
  /** As signed. */
  readonly timestamp: string;
  readonly body: Buffer;
  readonly headerEvent: string | undefined;
  /** Undefined: the request is not traced. */
  readonly traceparent?: string | undefined;
  readonly parsed: ParsedWebhook;
}

export interface InboxResult {
  readonly kind: 'stored' | 'duplicate' | 'replayed';
  /** Whether another body is stored under the same delivery id, found now or before. */
  readonly conflict: 'none' | 'new' | 'known';
}

/** PostgreSQL cannot keep up when more of them wait. */
const MOST_WAITING = 2_000;

export class InboxWriter {
  readonly #keyRing: KeyRing;
  readonly #store: (row: NewRow) => Promise<InboxResult>;
  #waiting = 0;

  constructor(database: Database, keyRing: KeyRing) {
    this.#keyRing = keyRing;
    // All that arrive during one commit share the next one, on one connection: the others stay free for callers.
    this.#store = together(async (rows) => {
      try {
        return await storeAll(database, rows);
      } catch (error) {
        if (!isBadData(error)) throw error;
        // A row that PostgreSQL refuses does not refuse the others. One after another: the other connections stay free.
        const alone = new Map<NewRow, ReturnType<typeof storeAll>>();
        for (const row of rows) {
          const stored = storeAll(database, [row]);
          alone.set(row, stored);
          await stored.catch(() => undefined);
        }
        return async (row) => {
          const resultOf = await alone.get(row);
          if (resultOf === undefined) throw error;
          return resultOf(row);
        };
      }
    });
  }

  /** Resolves when the delivery is durably stored. @throws DatabaseUnavailableError: the sender must repeat it. */
  async accept({ timestamp, body, parsed, ...delivery }: VerifiedWebhook): Promise<InboxResult> {
    if (this.#waiting >= MOST_WAITING)
      throw new DatabaseUnavailableError(new Error(`${MOST_WAITING} deliveries wait to be stored`));
    const bodyHash = this.#keyRing.hash(body, 'webhook_body');
    const row: NewRow = {
      ...delivery,
      ...parsed,
      bodyHash,
      signedHash: this.#keyRing.hash(`${timestamp}.${bodyHash.toString('hex')}`, 'webhook_signed'),
      encryptedBody: this.#keyRing.encrypt(body, inboxBodyAad(delivery.deliveryId)),
    };
    this.#waiting += 1;
    try {
      return await this.#store(row);
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** A replay is signed content that came before under another id; it has no second effect. */
const REPLAYED = {
  state: 'replayed',
  note: 'The same signed content came before under another delivery id; it has no second effect.',
} as const;

async function storeAll(database: Database, rows: readonly NewRow[]): Promise<(row: NewRow) => InboxResult> {
  const [stored, replayed] = await database.run(async (db) => {
    const added = await insertNew(db, rows);
    const others = rows.filter((row) => !added.has(row));
    const known = new Set((await bodiesUnder(db, others)).map(nameOf));
    return [
      added,
      await insertNew(
        db,
        others.filter((row) => !known.has(nameOf(row))),
        REPLAYED,
      ),
    ];
  });
  // The search follows the commit of the insert: two processes that store two bodies under one id cannot see each
  // other before. Both precede the answer: a delivery whose process dies in between comes again.
  const bodies = Map.groupBy(await database.run((db) => bodiesUnder(db, rows)), ({ deliveryId }) => deliveryId);
  const conflicts = new Map<NewRow, InboxResult['conflict']>();
  for (const row of rows) {
    const { deliveryId } = row;
    if ((bodies.get(deliveryId)?.length ?? 0) < 2) continue;
    const isNew = await database.transaction((tx) => openConflictCase(tx, deliveryId));
    conflicts.set(row, isNew ? 'new' : 'known');
  }
  return (row) => ({
    kind: stored.has(row) ? 'stored' : replayed.has(row) ? 'replayed' : 'duplicate',
    conflict: conflicts.get(row) ?? 'none',
  });
}

type Body = Pick<NewRow, 'deliveryId' | 'bodyHash'>;

function nameOf({ deliveryId, bodyHash }: Body): string {
  return `${bodyHash.toString('hex')} ${deliveryId}`;
}

/** A concurrent insert of the same row is waited for. @returns those that were not there already. */
async function insertNew(
  db: Executor,
  rows: readonly NewRow[],
  changed: Partial<NewRow> = {},
): Promise<ReadonlySet<NewRow>> {
  if (rows.length === 0) return new Set();
  const byId = (one: NewRow, other: NewRow) =>
    Number(one.deliveryId > other.deliveryId) - Number(one.deliveryId < other.deliveryId);
  const inOrder = rows.toSorted(byId);
  const inserted = await db
    .insert(inbox)
    // In one order, so that two processes with the same deliveries do not wait for each other.
    .values(inOrder.map((row) => ({ source: 'webhook' as const, ...row, ...changed })))
    .onConflictDoNothing()
    .returning({ deliveryId: inbox.deliveryId, bodyHash: inbox.bodyHash });
  const names = new Set(inserted.map(nameOf));
  // Of equal rows, the first one was inserted.
  const added = inOrder.filter((row) => names.delete(nameOf(row)));
  if (added.some((row) => (changed.state ?? row.state) === 'pending')) noteRowsAdded(db, 'inbox');
  return new Set(added);
}

async function bodiesUnder(db: Executor, rows: readonly NewRow[]): Promise<Body[]> {
  if (rows.length === 0) return [];
  // A plan that was made for a few rows would read the whole table later.
  const statement = prepared(db, 'bodies of deliveries', (on) =>
    on
      .select({ deliveryId: inbox.deliveryId, bodyHash: inbox.bodyHash })
      .from(inbox)
      .where(sql`${inbox.deliveryId} = any(${sql.placeholder('ids')})`)
      .prepare(UNNAMED),
  );
  return statement.execute({ ids: [...new Set(rows.map(({ deliveryId }) => deliveryId))] });
}

/** Work that one of the bodies was matched to gets a timeline entry. */
async function openConflictCase(tx: Executor, deliveryId: string): Promise<boolean> {
  const isNew = await openCase(
    tx,
    { kind: 'delivery', id: deliveryId },
    'webhook_conflict',
    'Different bodies, each correctly signed, arrived with this delivery id. All are stored and processed.',
  );
  if (!isNew) return false;
  const matched = await tx
    .selectDistinct({ kind: inbox.subjectKind, id: inbox.subjectId })
    .from(inbox)
    .where(and(eq(inbox.deliveryId, deliveryId), isNotNull(inbox.subjectId)));
  for (const { kind, id } of matched) {
    if (kind === null || id === null) continue;
    await addTimelineEntry(
      tx,
      { kind, id },
      {
        event: 'webhook.conflict',
        message: `A second, different body arrived with an earlier delivery id of this ${KINDS[kind].noun}.`,
        detail: { delivery_id: deliveryId },
        dedupKey: `webhook.conflict:${deliveryId}`,
      },
    );
  }
  return true;
}
