import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { orderReads, type OrderFilter } from '#db/work/orders.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';

const STATUSES = ['accepted', 'held', 'processing', 'submitting'] as const;
const OWNERS = ['key_one', 'key_two'] as const;
const START = Date.UTC(2030, 0, 31, 12);
/** Several rows have the same time. */
const timeOf = (n: number) => new Date(START + Math.floor(n / 3));

const { database } = disposedAtEnd(await openTestDatabase());
const ids: string[] = [];

beforeAll(async () => {
  for (let n = 0; n < 24; n += 1) {
    const id = await acceptTestOrder(database);
    ids.push(id);
    const times = { createdAt: timeOf(n), updatedAt: timeOf(24 - n) };
    const row = { status: STATUSES[n % 4], apiKeyId: OWNERS[n % 2], packageId: 1 + (n % 3), ...times };
    await database.run((db) => db.update(orders).set(row).where(eq(orders.id, id)));
  }
});

const time = fc.integer({ min: -1, max: 9 }).map((ms) => new Date(START + ms));
const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
const asked = fc.record({
  owner: optional(fc.constantFrom(...OWNERS)),
  filter: fc.record<OrderFilter>({
    statuses: optional(fc.array(fc.constantFrom(...STATUSES), { minLength: 1, maxLength: 4 })),
    packageId: optional(fc.integer({ min: 1, max: 4 })),
    createdBy: optional(fc.constantFrom(...OWNERS)),
    createdAfter: optional(time),
    createdBefore: optional(time),
    updatedAfter: optional(time),
  }),
  limit: fc.integer({ min: 1, max: 30 }),
  after: optional(fc.nat(23)),
});

describe('a page of orders', () => {
  it('has the newest of those that match, in a stable order', async () => {
    const all = await database.run((db) => orderReads.page(db, undefined, {}, { limit: 100 }));
    await fc.assert(
      fc.asyncProperty(asked, async ({ owner, filter, limit, after: place }) => {
        const after = place === undefined ? undefined : { createdAt: timeOf(place), id: ids[place]! };
        const { statuses, packageId, createdBy, createdAfter, createdBefore, updatedAfter } = filter;
        const expected = all.filter(
          ({ row }) =>
            (owner === undefined || row.apiKeyId === owner) &&
            (statuses === undefined || statuses.includes(row.status)) &&
            (packageId === undefined || row.packageId === packageId) &&
            (createdBy === undefined || row.apiKeyId === createdBy) &&
            (createdAfter === undefined || row.createdAt > createdAfter) &&
            (createdBefore === undefined || row.createdAt < createdBefore) &&
            (updatedAfter === undefined || row.updatedAt > updatedAfter) &&
            (after === undefined ||
              row.createdAt < after.createdAt ||
              (row.createdAt.getTime() === after.createdAt.getTime() && row.id < after.id)),
        );
        const page = await database.run((db) => orderReads.page(db, owner, filter, { limit, after }));
        expect(page).toEqual(expected.slice(0, limit));
      }),
      { numRuns: 300 },
    );
  });
});
