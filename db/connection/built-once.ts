import type { Executor } from '#db/connection/database.ts';

export interface BuiltQuery<Rows> {
  execute(values: Record<string, unknown>): Promise<Rows>;
}

/** For queries of every request, building costs more than sending. @param build prepares under a unique name. */
export function builtOnce<Rows>(
  build: (db: Executor) => BuiltQuery<Rows>,
): (db: Executor, values: Readonly<Record<string, unknown>>) => Promise<Rows> {
  const queries = new WeakMap<Executor, BuiltQuery<Rows>>();
  return async (db, values) => {
    const query = queries.get(db) ?? build(db);
    queries.set(db, query);
    return query.execute({ ...values });
  };
}
