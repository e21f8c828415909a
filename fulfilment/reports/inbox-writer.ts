/**
 * Stores each webhook exactly once and classifies it: new, duplicate, replay of signed content under another id, or
 * conflict.
 */
import { and, count, eq, isNotNull, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import { DatabaseUnavailableError, type Database, type Executor } from '#db/connection/database.ts';
import { placesOf, prepared } from '#db/connection/prepared-statements.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { inbox } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { KINDS } from '#domain/work/kinds.ts';

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

/** Deliveries that are stored at the same time: the other connections of the pool stay free for callers. */
const AT_ONCE = 4;
/** PostgreSQL cannot keep up when more of them wait. */
const MOST_WAITING = 2_000;

export class InboxWriter {
  readonly #database: Database;
  readonly #keyRing: KeyRing;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(database: Database, keyRing: KeyRing) {
    this.#database = database;
    this.#keyRing = keyRing;
  }

  /** Resolves when the delivery is durably stored. @throws DatabaseUnavailableError: the sender must repeat it. */
  async accept(delivery: VerifiedWebhook): Promise<InboxResult> {
    await this.#turn();
    try {
      return await this.#store(delivery);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#underWay < AT_ONCE) {
      this.#underWay += 1;
      return;
    }
    if (this.#waiting.length >= MOST_WAITING)
      throw new DatabaseUnavailableError(new Error(`${MOST_WAITING} deliveries wait to be stored`));
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async #store({ timestamp, body, parsed, ...delivery }: VerifiedWebhook): Promise<InboxResult> {
    const bodyHash = this.#keyRing.hash(body, 'webhook_body');
    const row: NewRow = {
      ...delivery,
      ...parsed,
      bodyHash,
      signedHash: this.#keyRing.hash(`${timestamp}.${bodyHash.toString('hex')}`, 'webhook_signed'),
      encryptedBody: this.#keyRing.encrypt(body, inboxBodyAad(delivery.deliveryId)),
    };
    const kind = await this.#database.run((db) => storeWebhook(db, row));
    // The search follows the commit of the insert: two processes that store two bodies under one id cannot see each
    // other before. Both precede the answer: a delivery whose process dies in between comes again.
    return { kind, conflict: await findConflict(this.#database, row.deliveryId) };
  }
}

/** A replay is signed content that came before under another id; it has no second effect. */
async function storeWebhook(db: Executor, row: NewRow): Promise<InboxResult['kind']> {
  if (await insertNew(db, row)) return 'stored';
  const isSame = and(eq(inbox.deliveryId, row.deliveryId), eq(inbox.bodyHash, row.bodyHash));
  if ((await db.$count(inbox, isSame)) > 0) return 'duplicate';
  const note = 'The same signed content came before under another delivery id; it has no second effect.';
  return (await insertNew(db, { ...row, state: 'replayed', note })) ? 'replayed' : 'duplicate';
}

/** A concurrent insert of the same row is waited for. @returns false when it was there already. */
async function insertNew(db: Executor, row: NewRow): Promise<boolean> {
  const { shape, places, values } = placesOf({ source: 'webhook', ...row } as const);
  const statement = prepared(db, `insert inbox ${shape}`, (on, name) =>
    on.insert(inbox).values(places).onConflictDoNothing().returning({ id: inbox.id }).prepare(name),
  );
  const inserted = await statement.execute(values);
  if (inserted.length > 0 && row.state === 'pending') noteRowsAdded(db, 'inbox');
  return inserted.length > 0;
}

async function findConflict(database: Database, deliveryId: string): Promise<InboxResult['conflict']> {
  const [found] = await database.run((db) => {
    const isOfDelivery = eq(inbox.deliveryId, sql.placeholder('deliveryId'));
    const statement = prepared(db, 'bodies of a delivery', (on, name) =>
      on.select({ bodies: count() }).from(inbox).where(isOfDelivery).prepare(name),
    );
    return statement.execute({ deliveryId });
  });
  if (found === undefined || found.bodies < 2) return 'none';
  return (await database.transaction((tx) => openConflictCase(tx, deliveryId))) ? 'new' : 'known';
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
