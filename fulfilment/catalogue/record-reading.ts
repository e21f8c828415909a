/** Recording a reading of a catalogue: what it changes, and the events of the changes. */
import {
  addReading,
  findReadingOfRun,
  laterReading,
  lockCatalogue,
  suspectedIds,
  wasReadCompletely,
  type CatalogueReadingRow,
} from '#db/catalogue/readings.ts';
import { STORED_ITEMS } from '#db/catalogue/stored-items.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvents, type NewEvent } from '#db/events/event-log.ts';
import type { CatalogueItem, CatalogueItems, CatalogueName, ReadCatalogue } from '#domain/catalogue/catalogue.ts';
import { announcedChanges, readingResult, type CatalogueChange, type KnownItem } from '#domain/catalogue/reading.ts';
import { paddedMoney } from '#domain/money/money.ts';
import type { CataloguePolicy } from '#domain/policy/upkeep-policy.ts';

/** One run of the reading of a catalogue. */
export interface ReadingRun {
  /** The same id makes one reading. */
  readonly runId: string;
  /** When the reading began. */
  readonly readAt: Date;
}

/** Events of one statement: PostgreSQL takes 65,535 values. */
const BATCH = 1_000;

const SUBJECTS = { packages: 'package', vpn_plans: 'vpn_plan' } as const satisfies Record<CatalogueName, string>;

/**
 * Records a reading in the caller's transaction: the changed items, an event for each change, and the reading. New
 * items are announced only after a complete reading: the readings until then fill the catalogue.
 *
 * @returns the reading; that of the run, if the run is known already.
 */
export async function recordReading<Name extends CatalogueName>(
  tx: Executor,
  catalogue: Name,
  read: ReadCatalogue<CatalogueItems[Name]>,
  { runId, readAt }: ReadingRun,
  policy: CataloguePolicy,
): Promise<CatalogueReadingRow> {
  await lockCatalogue(tx, catalogue);
  const stored = await findReadingOfRun(tx, catalogue, runId);
  if (stored !== undefined) return stored;
  // Two processes may read at the same time: the older state must not replace the newer one.
  const later = await laterReading(tx, catalogue, readAt);
  if (later !== undefined) return later;
  const isWhole = await wasReadCompletely(tx, catalogue);
  const known = await STORED_ITEMS[catalogue].known(tx);
  const items = withKnownPublicPrices(read.items, known, read.withoutPublicPrice);
  const { verdict, changes, missing } = readingResult(
    known,
    { items, complete: read.complete },
    { suspected: await suspectedIds(tx, catalogue), maxDropShare: policy.maxDropShare },
  );
  await STORED_ITEMS[catalogue].store(tx, changes, readAt);
  // An item may be new to us only because no reading has shown the whole catalogue yet.
  const news = isWhole ? changes : changes.filter(({ before }) => before !== undefined);
  await announce(tx, SUBJECTS[catalogue], news, readAt);
  const numberOf = (kind: CatalogueChange<unknown>['kind']) => changes.filter((each) => each.kind === kind).length;
  return addReading(
    tx,
    {
      catalogue,
      runId,
      readAt,
      complete: read.complete,
      verdict,
      items: new Set(items.map(({ id }) => id)).size,
      created: numberOf('created'),
      changed: numberOf('changed'),
      removed: numberOf('removed'),
      suspected: verdict === 'suspicious' ? [...missing] : [],
    },
    new Date(readAt.getTime() - policy.readingsKeptMs),
  );
}

/** A public price that was not read is not known to have changed. */
function withKnownPublicPrices<Item extends CatalogueItem>(
  items: readonly Item[],
  known: readonly KnownItem<Item>[],
  unread: ReadonlySet<number> | undefined,
): readonly Item[] {
  if (unread === undefined || unread.size === 0) return items;
  const before = new Map(known.map(({ item }) => [item.id, item]));
  return items.map((item) => {
    const earlier = unread.has(item.id) ? before.get(item.id) : undefined;
    return earlier !== undefined && 'publicPrice' in earlier ? { ...item, publicPrice: earlier.publicPrice } : item;
  });
}

async function announce(
  tx: Executor,
  kind: (typeof SUBJECTS)[CatalogueName],
  changes: readonly CatalogueChange<CatalogueItem>[],
  readAt: Date,
): Promise<void> {
  const events = changes.flatMap((change) =>
    announcedChanges(change).map((what): NewEvent => {
      const { before, after } = change;
      return {
        type: `${kind}.${what}`,
        subject: { kind, id: String(after.id) },
        apiKeyId: null,
        data: {
          name: after.name,
          available: after.available,
          price_for_reseller: paddedMoney(after.price),
          previous_price_for_reseller: before === undefined ? null : paddedMoney(before.price),
        },
      };
    }),
  );
  for (let start = 0; start < events.length; start += BATCH) {
    await recordEvents(tx, events.slice(start, start + BATCH), readAt);
  }
}
