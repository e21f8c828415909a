/** Column types and conditions that several tables share. */
import { sql } from 'drizzle-orm';
import { customType, index, numeric, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core';
import { FINAL_STATUSES } from '#domain/work/lifecycle.ts';

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
export const amount = (name: string) => numeric(name, { precision: 21, scale: 6 });
export const inList = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '));
export const unfinished = (status: AnyPgColumn) => sql`${status} not in (${inList(FINAL_STATUSES)})`;

/** The page of what belongs to a customer; most rows may have none. */
export function customerIndex(
  name: string,
  { customerReferenceHash, createdAt, id }: Readonly<Record<'customerReferenceHash' | 'createdAt' | 'id', AnyPgColumn>>,
) {
  return index(`${name}_customer_page`)
    .on(customerReferenceHash, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
    .where(sql`${customerReferenceHash} is not null`);
}
