import type { ServicePackage } from '#upstream/contract.ts';
import { CachedRead } from '#api/cached-read.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { valueOf } from '#api/service-problem.ts';

/** Price lists change by the hour at most; a caller's price limit guards against what changes in between. */
export const PRICES_MAX_AGE_MS = 30_000;

/** The packages of the service by id, at most half a minute old; one read serves every call that needs them. */
export type PackageList = CachedRead<ServicePackage[]>;

export function packageList({ service, now }: Pick<ApiDependencies, 'service' | 'now'>): PackageList {
  const read = async () => valueOf(await service.listPackages()).items.toSorted((left, right) => left.id - right.id);
  return new CachedRead(read, { maxAgeMs: PRICES_MAX_AGE_MS, now });
}
