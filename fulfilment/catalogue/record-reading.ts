import { and, asc, type Column, eq, gte, inArray, lt, notExists, or } from 'drizzle-orm';
import {
  addReading,
  type CatalogueReadingRow,
  findReadingOfRun,
  laterReading,
  lockCatalogue,
  STORED_ITEMS,
  suspectedIds,
  wasReadCompletely,
} from '#db/catalogue/catalogue.ts';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvents, type NewEvent } from '#db/events/event-log.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, packages, vpnPlans, vpnSubscriptions } from '#db/schema.ts';
import { ofWork } from '#db/work/attempts.ts';
import { workTable } from '#db/work/rows.ts';
import {
  type CatalogueItem,
  type CatalogueItems,
  type CatalogueName,
  type ReadCatalogue,
  announcedChanges,
  readingResult,
  type CatalogueChange,
  type KnownItem,
} from '#domain/catalogue/catalogue.ts';
import { paddedMoney } from '#domain/money/money.ts';
import type { CataloguePolicy } from '#domain/policy/upkeep-policy.ts';
import type { PurchaseKind, WorkKind } from '#domain/work/kinds.ts';
import { productColumn } from '#fulfilment/gate/drift-stop.ts';

const BUYERS = {
  packages: ['order', 'topup'],
  vpn_plans: ['vpn_subscription'],
} as const satisfies Record<CatalogueName, readonly PurchaseKind[]>;

/** The oldest ones go first; the others follow with the next reading or by their own timers. */
const MAX_WOKEN = 1_000;

const SUBJECTS = { packages: 'package', vpn_plans: 'vpn_plan' } as const satisfies Record<CatalogueName, string>;

/**
 * New items are announced only after a complete reading: the readings until then fill the catalogue. @returns the
 * reading; that of the run, if the run is known already.
 */
export async function recordReading<Name extends CatalogueName>(
  tx: Executor,
  catalogue: Name,
  read: ReadCatalogue<CatalogueItems[Name]>,
  { runId, readAt }: Pick<CatalogueReadingRow, 'runId' | 'readAt'>,
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
  if (verdict !== 'suspicious') {
    const ids = items.map(({ id }) => id);
    await wakeHeld(tx, catalogue, { ids, changed: changes.map(({ after }) => after.id), readAt });
  }
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
  for (const some of inBatches(events)) await recordEvents(tx, some, readAt);
}

/** Before a send we only look into the catalogue ourselves. */
function refusedByService(tx: Executor, kind: WorkKind, workId: Column) {
  return tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(ofWork({ kind, id: workId }), eq(attempts.state, 'refused')));
}

/** What the service itself refused is woken only by a change, or each reading would send it again. */
async function wakeHeld(
  tx: Executor,
  catalogue: CatalogueName,
  {
    ids,
    changed,
    readAt,
  }: { readonly ids: readonly number[]; readonly changed: readonly number[]; readonly readAt: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const item = catalogue === 'packages' ? packages : vpnPlans;
  for (const kind of BUYERS[catalogue]) {
    const work = workTable(kind);
    const isOver = or(
      and(
        eq(work.failureClass, 'package_unavailable'),
        or(notExists(refusedByService(tx, kind, work.id)), inArray(item.id, [...changed])),
      ),
      and(
        eq(work.failureClass, 'price_above_limit'),
        eq(work.maxPriceCurrency, item.priceCurrency),
        gte(work.maxPriceAmount, item.priceAmount),
      ),
      ...(kind === 'vpn_subscription'
        ? [
            and(
              eq(work.failureClass, 'margin_too_low'),
              eq(vpnSubscriptions.customerPriceCurrency, item.priceCurrency),
              gte(vpnSubscriptions.customerPrice, item.priceAmount),
            ),
          ]
        : []),
    );
    const held = await tx
      .select({ id: work.id })
      .from(work)
      .innerJoin(item, eq(item.id, productColumn(kind)))
      .where(
        and(
          eq(work.status, 'held'),
          lt(work.updatedAt, readAt),
          eq(item.available, true),
          inArray(item.id, [...ids]),
          isOver,
        ),
      )
      .orderBy(asc(work.createdAt))
      .limit(MAX_WOKEN);
    for (const { id } of held) await requestWake(tx, { kind, id });
  }
}
