import type { CataloguePackage } from '#simulator/catalogue/packages.ts';
import type { EsimCondition, EsimRecord } from '#simulator/store/esims.ts';
import type { SimulatedState } from '#upstream/contract.ts';

/** Data of an eSIM and what of it is used at one moment. */
export interface EsimFacts {
  readonly usedMb: number;
  /** Null: unlimited. */
  readonly totalMb: number | null;
  /** As it is shown: an active eSIM whose data or time is over is not active any more. */
  readonly status: EsimRecord['status'] | 'expired';
}

const DAY_MS = 86_400_000;
/** What a phone uses as soon as it is on. */
const FIRST_USE_MB = 10;
/** Of an unlimited package. */
const UNLIMITED_MB_A_DAY = 1_024;
const UNLIMITED_CONSUMED_MB = 51_200;

/**
 * Usage grows evenly while an eSIM is active, so that a package lasts as long as it is valid; top-ups are used no
 * faster.
 *
 * @param item the package that it was bought as.
 * @param topups packages of its completed top-ups.
 * @param now epoch milliseconds.
 */
export function esimFacts(
  esim: EsimRecord,
  item: CataloguePackage,
  topups: readonly CataloguePackage[],
  now: number,
): EsimFacts {
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

/** False when it would have to go back: what was installed or used stays so. */
export function mayBecome(shown: EsimFacts['status'], state: SimulatedState): boolean {
  const from = ORDER_OF_STATES.findIndex((each) => each === shown);
  return from >= 0 && ORDER_OF_STATES.indexOf(state) >= from;
}

/** The condition of an eSIM that a phone has brought into a state. @param now epoch milliseconds. */
export function becoming(
  state: SimulatedState,
  esim: EsimRecord,
  facts: EsimFacts,
  item: CataloguePackage,
  now: number,
): EsimCondition {
  const installedAt = esim.installedAt ?? now;
  if (state === 'installed') return { ...esim, status: state, installedAt };
  const activatedAt = esim.activatedAt ?? now;
  const expiresAt = esim.expiresAt ?? activatedAt + item.validityDays * DAY_MS;
  const common = { status: state, installedAt, activatedAt, expiresAt, usedAt: now };
  if (state === 'active') return { ...common, usedMb: Math.max(facts.usedMb, FIRST_USE_MB) };
  return { ...common, usedMb: facts.totalMb ?? Math.max(facts.usedMb, UNLIMITED_CONSUMED_MB) };
}

/** The condition after a recharge: what was consumed is active again, and what runs lasts longer. */
export function recharged(esim: EsimRecord, facts: EsimFacts, topup: CataloguePackage, now: number): EsimCondition {
  const expiresAt = esim.expiresAt === null ? null : esim.expiresAt + topup.validityDays * DAY_MS;
  const wasOn = esim.status === 'active' || esim.status === 'consumed';
  if (!wasOn) return esim;
  return { ...esim, status: 'active', expiresAt, usedMb: facts.usedMb, usedAt: now };
}
