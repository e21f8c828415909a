import type { CataloguePackage } from '#simulator/catalogue.ts';
import { DAY_MS } from '#simulator/clock.ts';
import { validationFailed } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Esim, Sale } from '#simulator/store/rows.ts';
import type { SimulatedState } from '#upstream/contract.ts';

export interface EsimState {
  readonly usedMb: number;
  readonly totalMb: number | null;
  /** An active eSIM without data or time is shown as consumed or expired. */
  readonly status: Esim['status'] | 'expired';
}

const FIRST_USE_MB = 10;
const UNLIMITED_MB_A_DAY = 1_024;
const UNLIMITED_CONSUMED_MB = 51_200;

/** Usage grows evenly, so that a package lasts as long as it is valid. Top-ups do not change the rate. */
export function esimState({ store, packages, clock }: Simulation, esim: Esim): EsimState {
  const { dataMb, validityDays } = packages.everSold(esim.package_id);
  const topups = store.rows('sales', `WHERE esim_id = :id AND kind = 'topup' AND status = 'completed'`, {
    id: esim.id,
  });
  const recharged = topups.map(({ item_id }) => packages.everSold(item_id).dataMb ?? 0);
  const totalMb = dataMb === null ? null : recharged.reduce((sum, mb) => sum + mb, dataMb);
  const now = clock.now();
  const expired = esim.expires_at !== null && now >= esim.expires_at;
  const until = expired ? (esim.expires_at ?? now) : now;
  const usedMb = usedUntil(esim, until, dataMb === null ? UNLIMITED_MB_A_DAY : dataMb / validityDays, totalMb);
  if (esim.status === 'cancelled') return { usedMb, totalMb, status: 'cancelled' };
  const consumed = esim.status === 'active' && totalMb !== null && usedMb >= totalMb;
  return { usedMb, totalMb, status: expired ? 'expired' : consumed ? 'consumed' : esim.status };
}

function usedUntil(esim: Esim, until: number, mbADay: number, totalMb: number | null): number {
  if (esim.status !== 'active' || esim.used_at === null) return esim.used_mb;
  const used = Math.floor(esim.used_mb + (mbADay * Math.max(0, until - esim.used_at)) / DAY_MS);
  return totalMb === null ? used : Math.min(totalMb, used);
}

const ORDER_OF_STATES: readonly Esim['status'][] = ['available', 'installed', 'active', 'consumed'];

/** An installed or used eSIM stays so. @throws ServiceError 422 when it is beyond that state, or cancelled. */
export function changeEsimState(simulation: Simulation, esim: Esim, state: SimulatedState): Esim {
  const current = esimState(simulation, esim);
  const from = ORDER_OF_STATES.findIndex((each) => each === current.status);
  if (from < 0 || ORDER_OF_STATES.indexOf(state) < from) {
    throw validationFailed({ state: `this eSIM is ${current.status} and cannot become ${state}` });
  }
  if (current.status === state) return esim;
  const changes = changesInto(simulation, state, esim, current);
  simulation.store.change('esims', { id: esim.id }, changes);
  return { ...esim, ...changes };
}

function changesInto(
  { packages, clock }: Simulation,
  state: SimulatedState,
  esim: Esim,
  { usedMb, totalMb }: EsimState,
): Partial<Esim> {
  const now = clock.now();
  const installed_at = esim.installed_at ?? now;
  if (state === 'installed') return { status: state, installed_at };
  const activated_at = esim.activated_at ?? now;
  const expires_at = esim.expires_at ?? activated_at + packages.everSold(esim.package_id).validityDays * DAY_MS;
  const common = { status: state, installed_at, activated_at, expires_at, used_at: now };
  if (state === 'active') return { ...common, used_mb: Math.max(usedMb, FIRST_USE_MB) };
  return { ...common, used_mb: totalMb ?? Math.max(usedMb, UNLIMITED_CONSUMED_MB) };
}

/** A consumed eSIM is active again, and a running one lasts longer. Call it before the top-up counts as completed. */
export function recharge(simulation: Simulation, topup: Sale): void {
  const { store, packages, clock } = simulation;
  const esim = store.get('esims', { id: topup.esim_id ?? '' });
  if (esim?.status !== 'active' && esim?.status !== 'consumed') return;
  const longer = packages.everSold(topup.item_id).validityDays * DAY_MS;
  store.change(
    'esims',
    { id: esim.id },
    {
      status: 'active',
      expires_at: esim.expires_at === null ? null : esim.expires_at + longer,
      used_mb: esimState(simulation, esim).usedMb,
      used_at: clock.now(),
    },
  );
}

/** Needs exactly the same countries, limited or unlimited alike. Empty when cancelled or expired. */
export function topupOptions(simulation: Simulation, esim: Esim): CataloguePackage[] {
  const { status } = esimState(simulation, esim);
  if (status === 'cancelled' || status === 'expired') return [];
  const own = simulation.packages.everSold(esim.package_id);
  return simulation.packages.list().filter((item) => {
    const places = new Set([...item.countries, ...own.countries]);
    const samePlaces = places.size === item.countries.length && places.size === own.countries.length;
    return samePlaces && (item.dataMb === null) === (own.dataMb === null);
  });
}
