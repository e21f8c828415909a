import { invalid } from '#api/http/operation.ts';
import type { Executor } from '#db/connection/database.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';

/** Checks the `esim_id` of a body. @throws Problem validation_failed when the owner has no eSIM with this id. */
export async function requireEsim(db: Executor, id: string, owner: Owner): Promise<void> {
  if ((await findEsim(db, id, owner)) !== undefined) return;
  throw invalid([{ in: 'body', field: 'esim_id', message: 'is not the id of an existing eSIM' }]);
}
