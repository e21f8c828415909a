import type { CataloguePackage } from '#simulator/catalogue/packages.ts';
import type { EsimCondition, EsimRecord } from '#simulator/store/esims.ts';
import type { SimulatedState } from '#upstream/contract.ts';

/** The usage and status of an eSIM at one time. */
export interface EsimState {
  readonly usedMb: number;
  /** Null: unlimited. */
  readonly totalMb: number | null;
  /** The shown status: an active eSIM without data or time left is shown as consumed or expired. */
  readonly status: EsimRecord['status'] | 'expired';
}

const DAY_MS = 86_400_000;
/** Megabytes that a phone uses when it is switched on. */
const FIRST_USE_MB = 10;
/** Usage of an unlimited package. */
const UNLIMITED_MB_A_DAY = 1_024;
const UNLIMITED_CONSUMED_MB = 51_200;

/**
 * Calculates the usage and status of an eSIM. Usage grows evenly while the eSIM is active, so that a package lasts as
 * long as it is valid. Top-ups do not change the rate.
 *
 * @param item the package with which it was bought.
 * @param topups packages of its completed top-ups.
 * @param now epoch milliseconds.
 */
export function esimState(
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

/** False when the change would go backwards: an installed or used eSIM stays so. */
export function mayBecome(shown: EsimState['status'], state: SimulatedState): boolean {
  const from = ORDER_OF_STATES.findIndex((each) => each === shown);
  return from >= 0 && ORDER_OF_STATES.indexOf(state) >= from;
}

/** The eSIM after a phone brought it into a state. @param now epoch milliseconds. */
export function conditionAfter(
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

/**
 * The eSIM after a recharge: a consumed eSIM is active again, and a running one lasts longer.
 * @param now epoch milliseconds.
 */
export function recharged(esim: EsimRecord, current: EsimState, topup: CataloguePackage, now: number): EsimCondition {
  const expiresAt = esim.expiresAt === null ? null : esim.expiresAt + topup.validityDays * DAY_MS;
  const wasOn = esim.status === 'active' || esim.status === 'consumed';
  if (!wasOn) return esim;
  return { ...esim, status: 'active', expiresAt, usedMb: current.usedMb, usedAt: now };
}
