import { setTimeout as delay } from 'node:timers/promises';
import type { ApiDependencies } from '#api/dependencies.ts';
import { fieldProblem } from '#api/http/operation.ts';
import { type PackageList, packageList } from '#api/offers/package-list.ts';
import { type PlanList, planList } from '#api/offers/plan-list.ts';
import type { FieldError, Problem } from '#api/problems/problem.ts';
import { valueOf } from '#api/problems/service-problem.ts';
import type { Money } from '#domain/money/money.ts';
import type { ReadAt } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServicePackage } from '#upstream/contract.ts';

/** A request without objections passes by a reading of at most this age, in milliseconds. */
const RECENT_MS = 5 * 60_000;
/** How long a request waits for a newer reading, in milliseconds. */
const WAIT_MS = 1_000;
/** After a late reading, or a failed one of a whole list, no request waits for this long, in milliseconds. */
const PAUSE_MS = 5_000;

/** The lists of offers: packages, VPN plans, and the top-up options of an eSIM. */
export type OffersOf = 'packages' | 'plans' | 'options';

/** The field that names an offer of a list, and the clause about an id that the list lacks. */
const NAMED: Readonly<Record<OffersOf, { field: 'package_id' | 'vpn_plan_id'; noun: string; missing: string }>> = {
  packages: {
    field: 'package_id',
    noun: 'package',
    missing: 'is not the id of a package that is sold now; `GET /v1/packages` lists them',
  },
  plans: {
    field: 'vpn_plan_id',
    noun: 'VPN plan',
    missing: 'is not the id of a VPN plan that is sold now; `GET /v1/vpn/plans` lists them',
  },
  options: {
    field: 'package_id',
    noun: 'package',
    missing: 'is not a top-up option of this eSIM; `GET /v1/esims/{id}/topup-options` lists them',
  },
};

/** A package or plan that can be bought. */
export interface Offer {
  readonly id: number;
  readonly currency: string;
  readonly available: boolean;
}

/** What a request wants to buy. */
export interface Wanted {
  readonly of: OffersOf;
  readonly id: number;
  readonly maxPrice: Money | undefined;
  readonly ifUnavailable: 'refuse' | 'hold';
}

/** A list of offers. */
interface OfferList {
  /** The last reading. */
  readonly kept?: ReadAt<Listing<Offer>> | undefined;
  get(): Promise<ReadAt<Listing<Offer>>>;
}

/**
 * What the service offers, to refuse a purchase that cannot succeed before it is stored. While the service cannot be
 * read, nothing is refused: the purchase then meets the same conditions later.
 */
export class Offers {
  readonly packages: PackageList;
  readonly plans: PlanList;
  readonly #service: Pick<ApiDependencies['service'], 'listTopupOptions'>;
  readonly #now: () => number;
  /** Until when no request waits for a list, in epoch milliseconds. */
  readonly #pausedUntil = new Map<OffersOf, number>();

  constructor(dependencies: Pick<ApiDependencies, 'service' | 'now'>) {
    this.packages = packageList(dependencies);
    this.plans = planList(dependencies);
    this.#service = dependencies.service;
    this.#now = dependencies.now;
  }

  /** The top-up options of an eSIM. They are read for each request, because each eSIM has others. */
  topupOptions(serviceEsimId: string): { get(): Promise<ReadAt<Listing<ServicePackage>>> } {
    return {
      get: async () => {
        const readAt = this.#now();
        return { value: valueOf(await this.#service.listTopupOptions(serviceEsimId)), readAt };
      },
    };
  }

  /** @returns why this cannot be bought; undefined when it can be bought, or the offers are not known. */
  async objectionTo(list: OfferList, wanted: Wanted): Promise<Problem | undefined> {
    const { kept } = list;
    const now = this.#now();
    if (kept !== undefined && now - kept.readAt < RECENT_MS && objections(kept.value, wanted).length === 0) return;
    if (now < (this.#pausedUntil.get(wanted.of) ?? 0)) return;
    const current = await within(WAIT_MS, list.get());
    if (current === 'late' || current === undefined) {
      // A failure of the options of one eSIM says nothing about those of another one.
      if (current === 'late' || wanted.of !== 'options') this.#pausedUntil.set(wanted.of, this.#now() + PAUSE_MS);
      return;
    }
    const errors = objections(current.value, wanted);
    if (errors.length === 0) return;
    return fieldProblem('purchase_not_possible', errors, { read_at: new Date(current.readAt).toISOString() });
  }
}

/** All objections to a purchase, by the fields of its request. Only a complete list proves that it lacks an id. */
export function objections({ items, complete }: Listing<Offer>, wanted: Wanted): readonly FieldError[] {
  const { id, maxPrice, ifUnavailable } = wanted;
  const { field, noun, missing } = NAMED[wanted.of];
  const offer = items.find((each) => each.id === id);
  if (offer === undefined) return complete ? [{ in: 'body', field, message: missing }] : [];
  const errors: FieldError[] = [];
  if (!offer.available && ifUnavailable === 'refuse') {
    const message = `names a ${noun} that is not sold now. With \`if_unavailable: hold\` the purchase waits until it is`;
    errors.push({ in: 'body', field, message });
  }
  if (maxPrice !== undefined && maxPrice.currency !== offer.currency) {
    const message = `must be ${offer.currency}, the currency of the price`;
    errors.push({ in: 'body', field: 'max_price.currency', message });
  }
  return errors;
}

/** @returns undefined when the promise is rejected. */
async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | 'late' | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, 'late' as const, { signal: over.signal })]);
  } catch {
    return undefined;
  } finally {
    over.abort();
  }
}
