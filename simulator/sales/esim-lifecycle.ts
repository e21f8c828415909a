import type { Catalogue } from '#simulator/catalogue/catalogue.ts';
import type { CataloguePackage } from '#simulator/catalogue/packages.ts';
import type { Clock } from '#simulator/clock.ts';
import { conditionAfter, esimState, mayBecome, recharged, type EsimState } from '#simulator/sales/esim-state.ts';
import { validationFailed } from '#simulator/service/errors.ts';
import type { EsimRecord, Esims } from '#simulator/store/esims.ts';
import type { SaleRecord, Sales } from '#simulator/store/sales.ts';
import type { SimulatedState } from '#upstream/contract.ts';

/** The life of eSIMs after their delivery: phones use them, top-ups recharge them. */
export class EsimLifecycle {
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

  /** The current usage and status of an eSIM. */
  state(esim: EsimRecord): EsimState {
    const topups = this.#sales.completedTopups(esim.id).map(({ itemId }) => this.#package(itemId));
    return esimState(esim, this.#package(esim.packageId), topups, this.#clock.now());
  }

  /**
   * Simulates that a phone installs, activates or uses up an eSIM.
   *
   * @throws ServiceError 422 when the eSIM is beyond that state, or cancelled.
   */
  changeState(esim: EsimRecord, state: SimulatedState): EsimRecord {
    const current = this.state(esim);
    if (!mayBecome(current.status, state)) {
      throw validationFailed({ state: `this eSIM is ${current.status} and cannot become ${state}` });
    }
    if (current.status === state) return esim;
    this.#esims.change(esim.id, conditionAfter(state, esim, current, this.#package(esim.packageId), this.#clock.now()));
    return this.#reread(esim.id);
  }

  /** Recharges the eSIM of a top-up. Call it before the top-up counts as completed. */
  recharge(topup: SaleRecord): void {
    const esim = this.#reread(topup.esimId ?? '');
    const condition = recharged(esim, this.state(esim), this.#package(topup.itemId), this.#clock.now());
    this.#esims.change(esim.id, condition);
  }

  /**
   * The packages that can recharge an eSIM: those for exactly the countries of its own package, limited or unlimited as
   * that one is. Empty when the eSIM is cancelled or expired.
   */
  topupOptions(esim: EsimRecord): CataloguePackage[] {
    const { status } = this.state(esim);
    if (status === 'cancelled' || status === 'expired') return [];
    const own = this.#package(esim.packageId);
    return this.#packages.list().filter((item) => isCompatible(item, own));
  }

  #package(id: number): CataloguePackage {
    const item = this.#packages.everSold(id);
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
