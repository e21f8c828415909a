import type { ApiDependencies } from '#api/dependencies.ts';
import { fieldProblem, Problem, valueOf } from '#api/problems/problem.ts';
import { objections, NAMED, type Offer, type OffersOf, type Wanted } from '#api/problems/purchase-not-possible.ts';
import { within } from '#telemetry/waiting.ts';
import { CachedRead, type ReadAt } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServicePackage, VpnPlan } from '#upstream/contract.ts';

/** For the check of a purchase or a quote. `max_price` protects a caller against a later change. */
const PRICES_MAX_AGE_MS = 30_000;
const WAIT_MS = 1_000;
/** After a late or failed reading no request waits for this long. */
const PAUSE_MS = 5_000;
/** Further requests are not checked. */
const MAX_WAITING = 20;

interface OfferList {
  get(): Promise<ReadAt<Listing<Offer>>>;
}

/**
 * Refuses a purchase that cannot succeed before it is stored. While the service cannot be read, nothing is refused: the
 * purchase then meets the same conditions later.
 */
export class Offers {
  readonly packages: CachedRead<Listing<ServicePackage>>;
  readonly plans: CachedRead<Listing<VpnPlan>>;
  readonly #service: Pick<ApiDependencies['service'], 'listTopupOptions'>;
  readonly #now: () => number;
  /** Epoch milliseconds. */
  readonly #pausedUntil = new Map<OffersOf, number>();
  #waiting = 0;

  constructor({ service, now }: Pick<ApiDependencies, 'service' | 'now'>) {
    const options = { maxAgeMs: PRICES_MAX_AGE_MS, now };
    this.packages = new CachedRead(async () => valueOf(await service.listPackages()), options);
    this.plans = new CachedRead(async () => valueOf(await service.listVpnPlans()), options);
    this.#service = service;
    this.#now = now;
  }

  /** Read for each request, because each eSIM has others. */
  topupOptions(serviceEsimId: string): { get(): Promise<ReadAt<Listing<ServicePackage>>> } {
    return {
      get: async () => {
        const readAt = this.#now();
        return { value: valueOf(await this.#service.listTopupOptions(serviceEsimId)), readAt };
      },
    };
  }

  /** @returns undefined also when the offers are not known. */
  async objectionTo(list: OfferList, wanted: Wanted): Promise<Problem | undefined> {
    return this.objectionToAll(list, wanted.of, [{ wanted, at: '' }]);
  }

  /**
   * All objections to all purchases of one request.
   * @param each.at the beginning of field names, such as `items.3.`.
   */
  async objectionToAll(
    list: OfferList,
    of: OffersOf,
    each: readonly { readonly wanted: Wanted; readonly at: string }[],
  ): Promise<Problem | undefined> {
    const current = await this.#read(list, of);
    if (current === undefined) return;
    const { value } = current;
    const errors = each.flatMap(({ wanted, at }) =>
      objections(value, wanted).map((error) => ({ ...error, field: `${at}${error.field}` })),
    );
    if (errors.length === 0) return;
    return fieldProblem('purchase_not_possible', errors, { read_at: new Date(current.readAt).toISOString() });
  }

  /** @returns undefined when it is not offered, or the offers are not known. */
  async currencyOf(of: 'packages' | 'plans', work: object): Promise<string | undefined> {
    const id: unknown = Reflect.get(work, NAMED[of].field);
    const list: OfferList = this[of];
    const current = await this.#read(list, of);
    return current?.value.items.find((offer) => offer.id === id)?.currency;
  }

  /** @returns undefined when the offers are not known in time. */
  async #read(list: OfferList, of: OffersOf): Promise<ReadAt<Listing<Offer>> | undefined> {
    if (this.#now() < (this.#pausedUntil.get(of) ?? 0) || this.#waiting >= MAX_WAITING) return undefined;
    this.#waiting += 1;
    try {
      return await within(WAIT_MS, async () => list.get());
    } catch (error) {
      // The service refused the call: that says something about this eSIM, and nothing about the others.
      const isOfOne = of === 'options' && error instanceof Problem && error.code === 'service_failed';
      if (!isOfOne) this.#pausedUntil.set(of, this.#now() + PAUSE_MS);
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }
}
