import { mayExist } from '#api/fields/ids.ts';
import { invalid } from '#api/http/operation.ts';
import { Problem } from '#api/problems/problem.ts';
import type { Executor } from '#db/connection/database.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { EsimRow } from '#db/work/rows.ts';

/** The eSIM of the `esim_id` of a body. @throws Problem validation_failed when the owner has no eSIM with this id. */
export async function requireEsim(db: Executor, id: string, owner: Owner): Promise<EsimRow> {
  const esim = await findEsim(db, id, owner);
  if (esim !== undefined) return esim;
  throw invalid([{ in: 'body', field: 'esim_id', message: 'is not the id of an existing eSIM' }]);
}

/**
 * The eSIM of the `id` of a path.
 *
 * @param find reads the wanted columns of an eSIM that the owner may see.
 * @throws Problem esim_not_found when the owner has no eSIM with this id.
 */
export async function requireEsimOfPath<Row>(
  find: (db: Executor, id: string, owner: Owner) => Promise<Row | undefined>,
  db: Executor,
  id: string,
  owner: Owner,
): Promise<Row> {
  const esim = mayExist('esim', id) ? await find(db, id, owner) : undefined;
  if (esim === undefined) throw new Problem('esim_not_found');
  return esim;
}
