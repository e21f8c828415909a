/** What several files of this folder need. */
import { eq } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { ApiDependencies } from '#api/dependencies.ts';
import { auditLog, orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';

/** Starts the API for all tests of a file, with a caller that has every scope. */
export async function apiOfFile(overrides: Partial<ApiDependencies> = {}) {
  const api = disposedAtEnd(await startTestApi(overrides));
  return { api, caller: await api.caller() };
}

/** The entries of the audit log about a subject, oldest first. */
export const auditOf = ({ database }: Pick<TestApi, 'database'>, subjectId: string) =>
  database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, subjectId)).orderBy(auditLog.id));

/** Changes the row of an order, as its workflow would have. */
export const changeOrder = (
  { database }: Pick<TestApi, 'database'>,
  id: string,
  change: PgUpdateSetSource<typeof orders>,
) => database.run((db) => db.update(orders).set(change).where(eq(orders.id, id)));
