import type { ApiDependencies } from '#api/dependencies.ts';
import { PRICES_MAX_AGE_MS } from '#api/offers/package-list.ts';
import { valueOf } from '#api/problems/service-problem.ts';
import { CachedRead } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';
import type { VpnPlan } from '#upstream/contract.ts';

/** The VPN plans of the service by id, at most half a minute old; one read serves every call that needs them. */
export type PlanList = CachedRead<Listing<VpnPlan>>;

/** The cached list of VPN plans. */
export function planList({ service, now }: Pick<ApiDependencies, 'service' | 'now'>): PlanList {
  const read = async (): Promise<Listing<VpnPlan>> => {
    const { items, complete } = valueOf(await service.listVpnPlans());
    return { items: items.toSorted((left, right) => left.id - right.id), complete };
  };
  return new CachedRead(read, { maxAgeMs: PRICES_MAX_AGE_MS, now });
}
