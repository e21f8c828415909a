/** Column types and conditions that several tables share. */
import { sql } from 'drizzle-orm';
import { customType, numeric, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core';
import { FINAL_STATUSES } from '#domain/work/lifecycle.ts';

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
export const amount = (name: string) => numeric(name, { precision: 21, scale: 6 });
export const inList = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '));
export const unfinished = (status: AnyPgColumn) => sql`${status} not in (${inList(FINAL_STATUSES)})`;
