import type { CataloguePackage } from '#simulator/catalogue.ts';
import { validationFailed } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimCondition, EsimRecord } from '#simulator/store/esims.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import type { SimulatedState } from '#upstream/contract.ts';

export class EsimLifecycle {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  state(esim: EsimRecord): EsimState {
    const topups = this.#simulation.sales.topups(esim.id, 'completed').map(({ itemId }) => this.#package(itemId));
    return esimState(esim, this.#package(esim.packageId), topups, this.#simulation.clock.now());
  }

  /** @throws ServiceError 422 when the eSIM is beyond that state, or cancelled. */
  changeState(esim: EsimRecord, state: SimulatedState): EsimRecord {
    const current = this.state(esim);
    if (!mayBecome(current.status, state)) {
      throw validationFailed({ state: `this eSIM is ${current.status} and cannot become ${state}` });
    }
    if (current.status === state) return esim;
    this.#simulation.esims.change(
      esim.id,
      conditionAfter(state, esim, current, this.#package(esim.packageId), this.#simulation.clock.now()),
    );
    return this.#reread(esim.id);
  }

  /** Call it before the top-up counts as completed. */
  recharge(topup: SaleRecord): void {
    const esim = this.#reread(topup.esimId ?? '');
    const condition = recharged(esim, this.state(esim), this.#package(topup.itemId), this.#simulation.clock.now());
    this.#simulation.esims.change(esim.id, condition);
  }

  /** Needs exactly the same countries, limited or unlimited alike. Empty when cancelled or expired. */
  topupOptions(esim: EsimRecord): CataloguePackage[] {
    const { status } = this.state(esim);
    if (status === 'cancelled' || status === 'expired') return [];
    const own = this.#package(esim.packageId);
    return this.#simulation.packages.list().filter((item) => isCompatible(item, own));
  }

  #package(id: number): CataloguePackage {
    const item = this.#simulation.packages.everSold(id);
    if (item === undefined) throw new Error(`package ${id} is gone`);
    return item;
  }

  #reread(id: string): EsimRecord {
    const esim = this.#simulation.esims.get(id);
    if (esim === undefined) throw new Error(`eSIM ${id} is gone`);
    return esim;
  }
}

function isCompatible(item: CataloguePackage, own: CataloguePackage): boolean {
  const places = new Set([...item.countries, ...own.countries]);
  const samePlaces = places.size === item.countries.length && places.size === own.countries.length;
  return samePlaces && (item.dataMb === null) === (own.dataMb === null);
}

export interface EsimState {
  readonly usedMb: number;
  readonly totalMb: number | null;
  /** An active eSIM without data or time is shown as consumed or expired. */
  readonly status: EsimRecord['status'] | 'expired';
}

const DAY_MS = 86_400_000;
const FIRST_USE_MB = 10;
const UNLIMITED_MB_A_DAY = 1_024;
const UNLIMITED_CONSUMED_MB = 51_200;

/** Usage grows evenly, so that a package lasts as long as it is valid. Top-ups do not change the rate. */
function esimState(
  esim: EsimRecord,
  item: CataloguePackage,
  topups: readonly CataloguePackage[],
  now: number,
): EsimState {
  const totalMb = item.dataMb === null ? null : topups.reduce((sum, { dataMb }) => sum + (dataMb ?? 0), item.dataMb);
  const expired = esim.expiresAt !== null && now >= esim.expiresAt;
  const usedMb = usedUntil(esim, item, expired ? (esim.expiresAt ?? now) : now, totalMb);
  const consumed = esim.status === 'active' && totalMb !== null && usedMb >= totalMb;
  if (esim.status === 'cancelled') return { usedMb, totalMb, status: 'cancelled' };
  return { usedMb, totalMb, status: expired ? 'expired' : consumed ? 'consumed' : esim.status };
}

function usedUntil(esim: EsimRecord, item: CataloguePackage, until: number, totalMb: number | null): number {
  if (esim.status !== 'active' || esim.usedAt === null) return esim.usedMb;
  const mbADay = item.dataMb === null ? UNLIMITED_MB_A_DAY : item.dataMb / item.validityDays;
  const used = Math.floor(esim.usedMb + (mbADay * Math.max(0, until - esim.usedAt)) / DAY_MS);
  return totalMb === null ? used : Math.min(totalMb, used);
}

const ORDER_OF_STATES: readonly EsimRecord['status'][] = ['available', 'installed', 'active', 'consumed'];

/** An installed or used eSIM stays so. */
function mayBecome(shown: EsimState['status'], state: SimulatedState): boolean {
  const from = ORDER_OF_STATES.findIndex((each) => each === shown);
  return from >= 0 && ORDER_OF_STATES.indexOf(state) >= from;
}

function conditionAfter(
  state: SimulatedState,
  esim: EsimRecord,
  current: EsimState,
  item: CataloguePackage,
  now: number,
): EsimCondition {
  const installedAt = esim.installedAt ?? now;
  if (state === 'installed') return { ...esim, status: state, installedAt };
  const activatedAt = esim.activatedAt ?? now;
  const expiresAt = esim.expiresAt ?? activatedAt + item.validityDays * DAY_MS;
  const common = { status: state, installedAt, activatedAt, expiresAt, usedAt: now };
  if (state === 'active') return { ...common, usedMb: Math.max(current.usedMb, FIRST_USE_MB) };
  return { ...common, usedMb: current.totalMb ?? Math.max(current.usedMb, UNLIMITED_CONSUMED_MB) };
}

/** A consumed eSIM is active again, and a running one lasts longer. */
function recharged(esim: EsimRecord, current: EsimState, topup: CataloguePackage, now: number): EsimCondition {
  const expiresAt = esim.expiresAt === null ? null : esim.expiresAt + topup.validityDays * DAY_MS;
  const wasOn = esim.status === 'active' || esim.status === 'consumed';
  if (!wasOn) return esim;
  return { ...esim, status: 'active', expiresAt, usedMb: current.usedMb, usedAt: now };
}
