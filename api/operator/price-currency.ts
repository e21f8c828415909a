import type { ApiDependencies } from '#api/dependencies.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';

/**
 * Adds the currency of the price to a new price limit, so that a limit in another currency is refused. Without an
 * answer of the service it is not known, and the limit is accepted.
 */
export async function withPriceCurrency(
  { database }: Pick<ApiDependencies, 'database'>,
  resource: WorkResource,
  { id, owner, action }: { readonly id: string; readonly owner: Owner; readonly action: OperatorAction },
): Promise<OperatorAction> {
  if (action.action !== 'change_limit' || action.maxPrice === null || resource.priceCurrency === undefined)
    return action;
  const found = await database.run((db) => resource.find(db, id, owner));
  const currency = found === undefined ? undefined : await resource.priceCurrency(found);
  return { ...action, ...(currency !== undefined && { priceCurrency: currency }) };
}
