import type { Catalogue } from '#simulator/catalogue/catalogue.ts';
import type { CataloguePackage } from '#simulator/catalogue/packages.ts';
import type { Clock } from '#simulator/clock.ts';
import { becoming, esimFacts, mayBecome, recharged, type EsimFacts } from '#simulator/sales/esim-facts.ts';
import { validationFailed } from '#simulator/service/errors.ts';
import type { EsimRecord, Esims } from '#simulator/store/esims.ts';
import type { SaleRecord, Sales } from '#simulator/store/sales.ts';
import type { SimulatedState } from '#upstream/contract.ts';

/** What happens to eSIMs after their delivery: phones use them, top-ups recharge them. */
export class EsimCare {
  readonly #esims: Esims;
  readonly #sales: Sales;
  readonly #packages: Catalogue<CataloguePackage>;
  readonly #clock: Clock;

  constructor(esims: Esims, sales: Sales, packages: Catalogue<CataloguePackage>, clock: Clock) {
    this.#esims = esims;
    this.#sales = sales;
    this.#packages = packages;
    this.#clock = clock;
  }

  /** Usage and shown state at this moment. */
  facts(esim: EsimRecord): EsimFacts {
    const topups = this.#sales.completedTopups(esim.id).map(({ itemId }) => this.#package(itemId));
    return esimFacts(esim, this.#package(esim.packageId), topups, this.#clock.now());
  }

  /**
   * A phone has installed, activated or used up an eSIM.
   *
   * @throws ServiceError 422 when it is beyond that state already, or cancelled.
   */
  bring(esim: EsimRecord, state: SimulatedState): EsimRecord {
    const facts = this.facts(esim);
    if (!mayBecome(facts.status, state)) {
      throw validationFailed({ state: `this eSIM is ${facts.status} and cannot become ${state}` });
    }
    if (facts.status === state) return esim;
    this.#esims.change(esim.id, becoming(state, esim, facts, this.#package(esim.packageId), this.#clock.now()));
    return this.#reread(esim.id);
  }

  /** A top-up has come about. Call it before the top-up counts as completed. */
  recharge(topup: SaleRecord): void {
    const esim = this.#reread(topup.esimId ?? '');
    const condition = recharged(esim, this.facts(esim), this.#package(topup.itemId), this.#clock.now());
    this.#esims.change(esim.id, condition);
  }

  /**
   * The packages that can recharge an eSIM: for exactly the places of its own package, limited for a limited one and
   * unlimited for an unlimited one. None once it is cancelled or its time is over.
   */
  topupOptions(esim: EsimRecord): CataloguePackage[] {
    const { status } = this.facts(esim);
    if (status === 'cancelled' || status === 'expired') return [];
    const own = this.#package(esim.packageId);
    return this.#packages.list().filter((item) => isCompatible(item, own));
  }

  #package(id: number): CataloguePackage {
    const item = this.#packages.get(id);
    if (item === undefined) throw new Error(`package ${id} is gone`);
    return item;
  }

  #reread(id: string): EsimRecord {
    const esim = this.#esims.get(id);
    if (esim === undefined) throw new Error(`eSIM ${id} is gone`);
    return esim;
  }
}

function isCompatible(item: CataloguePackage, own: CataloguePackage): boolean {
  const places = new Set([...item.countries, ...own.countries]);
  const samePlaces = places.size === item.countries.length && places.size === own.countries.length;
  return samePlaces && (item.dataMb === null) === (own.dataMb === null);
}
