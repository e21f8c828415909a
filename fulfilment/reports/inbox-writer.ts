import { and, count, eq, gt, inArray, isNotNull, or, sql } from 'drizzle-orm';
/**
 * Stores each webhook exactly once and classifies it: new, duplicate, replay of signed content under another id, or
 * conflict.
 */
import * as z from 'zod';
import type { KeyRing } from '#crypto/key-ring.ts';
import { noteFilled } from '#db/connection/after-commit.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { GroupCommit } from '#db/connection/group-commit.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { inbox } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';

export interface ParsedDelivery {
  readonly state: 'pending' | 'quarantined' | 'ignored';
  /** Why it is quarantined or ignored. */
  readonly note?: string;
  readonly event?: string;
  readonly kind?: WorkKind;
  readonly reference?: string;
  readonly serviceId?: string;
  readonly serviceEsimId?: string;
  readonly outcome?: ObservedOutcome;
}

export interface VerifiedDelivery {
  readonly deliveryId: string;
  /** As signed. */
  readonly timestamp: string;
  readonly body: Buffer;
  readonly headerEvent: string | undefined;
  /** Undefined: the request is not traced. */
  readonly traceparent?: string | undefined;
  readonly reading: ParsedDelivery;
}

export interface InboxResult {
  readonly kind: 'stored' | 'duplicate' | 'replayed';
  /** Whether another body is stored under the same delivery id, found now or before. */
  readonly conflict: 'none' | 'new' | 'known';
}

type NewRow = Pick<
  typeof inbox.$inferSelect,
  | 'deliveryId'
  | 'bodyHash'
  | 'signedHash'
  | 'encryptedBody'
  | 'headerEvent'
  | 'event'
  | 'state'
  | 'note'
  | 'subjectKind'
  | 'reference'
  | 'serviceId'
  | 'serviceEsimId'
  | 'outcome'
  | 'traceparent'
>;

const insertedRows = z.array(z.object({ deliveryId: z.string(), bodyHash: z.instanceof(Buffer) }));

// A batch of 100 rows is written in a few milliseconds. With one batch being written and one on its way, the pool's
// other connections stay free for the rest of the API.
const MAX_BATCH = 100;
const MAX_CONCURRENT = 2;
// About a second of work at a few thousand deliveries a second; further senders are asked to come again.
const MAX_WAITING = 2_000;

/** One per process: deliveries that arrive at the same time are stored together. */
export class InboxWriter {
  readonly #database: Database;
  readonly #keyRing: KeyRing;
  readonly #group: GroupCommit<NewRow, InboxResult>;

  constructor(database: Database, keyRing: KeyRing) {
    this.#database = database;
    this.#keyRing = keyRing;
    this.#group = new GroupCommit({
      commit: (rows) => storeDeliveries(this.#database, rows),
      maxBatch: MAX_BATCH,
      maxConcurrent: MAX_CONCURRENT,
      maxWaiting: MAX_WAITING,
    });
  }

  /** Resolves when the delivery is durably stored. @throws DatabaseUnavailableError: the sender must repeat it. */
  async accept(delivery: VerifiedDelivery): Promise<InboxResult> {
    const { reading } = delivery;
    const bodyHash = this.#keyRing.hash(delivery.body, 'webhook_body');
    return this.#group.add({
      deliveryId: delivery.deliveryId,
      bodyHash,
      signedHash: this.#keyRing.hash(`${delivery.timestamp}.${bodyHash.toString('hex')}`, 'webhook_signed'),
      encryptedBody: this.#keyRing.encrypt(delivery.body, inboxBodyAad(delivery.deliveryId)),
      headerEvent: delivery.headerEvent ?? null,
      event: reading.event ?? null,
      state: reading.state,
      note: reading.note ?? null,
      subjectKind: reading.kind ?? null,
      reference: reading.reference ?? null,
      serviceId: reading.serviceId ?? null,
      serviceEsimId: reading.serviceEsimId ?? null,
      outcome: reading.outcome ?? null,
      traceparent: delivery.traceparent ?? null,
    });
  }
}

/**
 * The search for conflicts follows the commit of the insert: two processes that store two bodies under one id cannot
 * see each other before. Both precede the answer: a delivery whose process dies in between comes again.
 */
async function storeDeliveries(database: Database, rows: readonly NewRow[]): Promise<InboxResult[]> {
  const stored = await database.run((db) => insertNew(db, rows));
  const kinds = rows.map((row) => (stored.delete(keyOf(row)) ? 'stored' : 'known'));
  const known = rows.filter((_, position) => kinds[position] === 'known');
  const replayed = known.length === 0 ? new Set<string>() : await database.run((db) => storeReplays(db, known));
  const conflicts = await reportConflicts(database, rows);
  return rows.map((row, position) => {
    const conflict = conflicts.get(row.deliveryId) ?? 'none';
    // Reported as new once, however many bodies came together.
    if (conflict === 'new') conflicts.set(row.deliveryId, 'known');
    return {
      kind: kinds[position] === 'stored' ? 'stored' : replayed.delete(keyOf(row)) ? 'replayed' : 'duplicate',
      conflict,
    };
  });
}

/**
 * One array for each column: thousands of placeholders would cost more than the insert. A concurrent insert of the
 * same row is waited for. @returns the keys of the new rows.
 */
async function insertNew(db: Executor, rows: readonly NewRow[]): Promise<Set<string>> {
  const column = <Name extends keyof NewRow>(name: Name) => sql.param(rows.map((row) => row[name]));
  const result = await db.execute(sql`
    insert into inbox (source, delivery_id, body_hash, signed_hash, encrypted_body, header_event, event, state, note,
      subject_kind, reference, service_id, service_esim_id, outcome, traceparent)
    select 'webhook', * from unnest(
      ${column('deliveryId')}::text[], ${column('bodyHash')}::bytea[], ${column('signedHash')}::bytea[],
      ${column('encryptedBody')}::bytea[], ${column('headerEvent')}::text[], ${column('event')}::text[],
      ${column('state')}::text[], ${column('note')}::text[], ${column('subjectKind')}::text[],
        ${column('reference')}::text[],
      ${column('serviceId')}::text[], ${column('serviceEsimId')}::text[], ${column('outcome')}::text[],
      ${column('traceparent')}::text[])
    on conflict do nothing
    returning delivery_id as "deliveryId", body_hash as "bodyHash"`);
  const inserted = new Set(insertedRows.parse(result.rows).map(keyOf));
  if (rows.some((row) => row.state === 'pending' && inserted.has(keyOf(row)))) noteFilled(db, 'inbox');
  return inserted;
}

/**
 * A replay is signed content that came before under another id; it has no second effect. @returns the keys of new
 * ones.
 */
async function storeReplays(db: Executor, rows: readonly NewRow[]): Promise<Set<string>> {
  const duplicates = new Set(
    (
      await db
        .select({ deliveryId: inbox.deliveryId, bodyHash: inbox.bodyHash })
        .from(inbox)
        .where(or(...rows.map((row) => and(eq(inbox.deliveryId, row.deliveryId), eq(inbox.bodyHash, row.bodyHash)))))
    ).map(keyOf),
  );
  const replays = rows.filter((row) => !duplicates.has(keyOf(row)));
  if (replays.length === 0) return new Set();
  return insertNew(
    db,
    replays.map((row) => ({
      ...row,
      state: 'replayed',
      note: 'The same signed content came before under another delivery id; it has no second effect.',
    })),
  );
}

/** @returns the delivery ids with more than one body. */
async function reportConflicts(database: Database, rows: readonly NewRow[]): Promise<Map<string, 'new' | 'known'>> {
  const ids = [...new Set(rows.map(({ deliveryId }) => deliveryId))];
  const conflicting = await database.run((db) =>
    db
      .select({ deliveryId: inbox.deliveryId })
      .from(inbox)
      .where(inArray(inbox.deliveryId, ids))
      .groupBy(inbox.deliveryId)
      .having(gt(count(), 1)),
  );
  const reported = new Map<string, 'new' | 'known'>();
  for (const { deliveryId } of conflicting) {
    const isNew = await database.transaction((tx) => openConflictCase(tx, deliveryId));
    reported.set(deliveryId, isNew ? 'new' : 'known');
  }
  return reported;
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

function keyOf(row: { readonly deliveryId: string; readonly bodyHash: Buffer }): string {
  return `${row.deliveryId}\n${row.bodyHash.toString('base64')}`;
}
