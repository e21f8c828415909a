/**
 * The drift stop. *Drift*: a purchase of ours whose delivery lacks or misstates a needed fact. It is paid and cannot be
 * delivered, so the product stops at once, and its kind at the second drift. One canary must then be delivered whole.
 * No circuit: there an acceptance is a success; here only a whole delivery is.
 */
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { KINDS, type PurchaseKind } from '#domain/work/kinds.ts';

/**
 * `proving`: one purchase at a time, until one is delivered whole. `product_stopped`: only the stopped products are
 * held. `stopped`: none passes until the drifted purchases are whole or a person starts a canary.
 */
export const DRIFT_STOP_STATES = ['open', 'proving', 'product_stopped', 'stopped'] as const;
export type DriftStopState = (typeof DRIFT_STOP_STATES)[number];

/** Times are epoch milliseconds. */
export interface Canary {
  readonly id: string;
  readonly product: number;
  /** When it was woken, or sent without having been held. */
  readonly calledAt: number;
  /** Null: it was woken and not sent yet. */
  readonly sentAt: number | null;
}

export interface DriftStop {
  readonly state: DriftStopState;
  /** Since buying was last open, without those that {@link afterDrift} exempts. */
  readonly drifts: number;
  readonly stoppedProducts: readonly number[];
  /** Time of the last stop; null: none since buying was last open. */
  readonly stoppedAt: Date | null;
  readonly canaries: readonly Canary[];
  /** A person has started buying after the last stop: a stopped product may then be the canary. */
  readonly isStarted: boolean;
}

export const NO_DRIFT_STOP: DriftStop = {
  state: 'open',
  drifts: 0,
  stoppedProducts: [],
  stoppedAt: null,
  canaries: [],
  isStarted: false,
};

export type DriftPolicy = Pick<
  GatePolicy,
  'unfilledMs' | 'unfilledShare' | 'driftCanaryMs' | 'driftCanaries' | 'canaryLeaseMs'
>;

/** The first purchase of the kind must be delivered whole: only a document has shown the answers of the service. */
export function afterReleaseByDocument(stop: DriftStop): DriftStop {
  return stop.state === 'open' ? { ...NO_DRIFT_STOP, state: 'proving' } : stop;
}

/** The stop has the clock of a worker, and a send that of the database. */
const CLOCKS_APART_MS = 2_000;

/**
 * A send that began before the stop says nothing new about the kind: it stops its product alone.
 * @param drifted.begunAt its first send, in epoch milliseconds.
 */
export function afterDrift(
  stop: DriftStop,
  { id, product, begunAt }: Pick<Canary, 'id' | 'product'> & { readonly begunAt: number },
  now: number,
): DriftStop {
  const wasCanary = stop.canaries.some((canary) => canary.id === id);
  const isExempt = !wasCanary && stop.stoppedAt !== null && begunAt <= stop.stoppedAt.getTime() + CLOCKS_APART_MS;
  const changed = {
    ...stop,
    stoppedProducts: [...new Set([...stop.stoppedProducts, product])],
    canaries: stop.canaries.filter((canary) => canary.id !== id),
  };
  if (isExempt) return changed;
  const state = stop.drifts === 0 ? 'proving' : 'stopped';
  return { ...changed, state, drifts: stop.drifts + 1, stoppedAt: new Date(now), isStarted: false };
}

/** A stopped product may then be the canary, and a canary that shows nothing is not waited for any more. */
export function afterStart(stop: DriftStop): DriftStop {
  if (stop.state === 'open') return stop;
  return { ...stop, state: stop.state === 'stopped' ? 'proving' : stop.state, canaries: [], isStarted: true };
}

export function afterSend(stop: DriftStop, { id, product }: Pick<Canary, 'id' | 'product'>, now: number): DriftStop {
  const others = stop.canaries.filter((canary) => canary.id !== id);
  return { ...stop, canaries: [...others, { id, product, calledAt: now, sentAt: now }] };
}

/** A canary that was sent may have bought, and stays. */
export function withoutCanary(stop: DriftStop, id: string): DriftStop {
  const canaries = stop.canaries.filter((canary) => canary.id !== id || canary.sentAt !== null);
  return canaries.length === stop.canaries.length ? stop : { ...stop, canaries };
}

/** `whole`: delivered. `passed_on`: it definitely bought nothing. */
export type CanaryFate = 'whole' | 'passed_on' | 'pending';

/** Fates of the canaries, and products of drifted purchases that are still open, or ended without being whole. */
interface DriftStopFacts {
  readonly fates: ReadonlyMap<string, CanaryFate>;
  readonly parkedProducts: ReadonlySet<number>;
  readonly unprovenProducts: ReadonlySet<number>;
}

/** Once no drifted purchase is parked, the stop ends: one canary remains, unless the kind was proven since. */
export function afterLook(
  stop: DriftStop,
  { fates, parkedProducts, unprovenProducts }: DriftStopFacts,
  now: number,
  policy: DriftPolicy,
): DriftStop {
  if (stop.state === 'open') return stop;
  // Only a person starts a stopped kind: a canary from before the stop proves nothing.
  const whole = stop.state === 'stopped' ? [] : stop.canaries.filter(({ id }) => fates.get(id) === 'whole');
  const proven = new Set(whole.map(({ product }) => product));
  const stoppedProducts = stop.stoppedProducts.filter((one) => parkedProducts.has(one) && !proven.has(one));
  const canaries = stop.canaries.filter(({ id, sentAt, calledAt }) =>
    sentAt === null ? now < calledAt + policy.canaryLeaseMs : (fates.get(id) ?? 'pending') === 'pending',
  );
  if (whole.length > 0 || stop.state === 'product_stopped') {
    if (stoppedProducts.length > 0)
      return {
        ...stop,
        state: 'product_stopped',
        stoppedProducts,
        canaries,
        isStarted: whole.length === 0 && stop.isStarted,
      };
    // Nothing has shown that a product is delivered again whose purchases only ended.
    const isProven = stop.stoppedProducts.every((one) => proven.has(one) || !unprovenProducts.has(one));
    return isProven ? NO_DRIFT_STOP : { ...NO_DRIFT_STOP, state: 'proving', stoppedAt: stop.stoppedAt };
  }
  if (stop.drifts > 0 && parkedProducts.size === 0)
    return { ...NO_DRIFT_STOP, state: 'proving', stoppedAt: stop.stoppedAt, canaries };
  return { ...stop, stoppedProducts, canaries };
}

/** A canary that shows nothing for long lets one other go, up to a limit. */
function hasTurn({ state, canaries, isStarted }: DriftStop, now: number, policy: DriftPolicy): boolean {
  if (state !== 'proving' && !(state === 'product_stopped' && isStarted)) return false;
  if (canaries.length >= policy.driftCanaries) return false;
  return canaries.every(({ sentAt }) => sentAt !== null && now >= sentAt + policy.driftCanaryMs);
}

/** Another product goes first. @param waiting in the order of the queue. */
export function nextCanary<Waiting extends { readonly product: number }>(
  stop: DriftStop,
  waiting: readonly Waiting[],
  now: number,
  policy: DriftPolicy,
): Waiting | undefined {
  if (!hasTurn(stop, now, policy)) return undefined;
  const isStopped = ({ product }: Waiting) => stop.stoppedProducts.includes(product);
  const other = stop.state === 'proving' ? waiting.find((one) => !isStopped(one)) : undefined;
  return other ?? (stop.isStarted ? waiting.find(isStopped) : undefined);
}

/** `canary`: its delivery decides. @param candidate.mayHaveBought a resend with the same key is no further purchase. */
export function judgeAtDriftStop(
  stop: DriftStop,
  candidate: Pick<Canary, 'id' | 'product'> & { readonly mayHaveBought: boolean; readonly isFirst: boolean },
  now: number,
  policy: DriftPolicy,
): 'pass' | 'canary' | 'hold' {
  const { id, product, mayHaveBought, isFirst } = candidate;
  if (stop.state === 'open' || mayHaveBought) return 'pass';
  const isStopped = stop.stoppedProducts.includes(product);
  const isCalled = stop.canaries.some((canary) => canary.id === id);
  switch (stop.state) {
    case 'stopped':
      return 'hold';
    case 'product_stopped':
      if (!isStopped) return 'pass';
      return isCalled ? 'canary' : 'hold';
    case 'proving':
      // A product may be stopped after the call of its purchase.
      if (isStopped && !stop.isStarted) return 'hold';
      if (isCalled) return 'canary';
      return !isStopped && isFirst && hasTurn(stop, now, policy) ? 'canary' : 'hold';
  }
}

/** A longer fill was no fill but a repair, and says nothing about the next one. */
export const LONGEST_FILL_MS = 30 * 60_000;

export function isUnfilledTooLong(unfilledMs: number, longestFillMs: number, policy: DriftPolicy): boolean {
  return unfilledMs >= Math.max(policy.unfilledMs, longestFillMs * policy.unfilledShare);
}

export function hasDrift({ drifts, stoppedProducts }: Pick<DriftStop, 'drifts' | 'stoppedProducts'>): boolean {
  return drifts > 0 || stoppedProducts.length > 0;
}

export function driftStopSentences(
  kind: PurchaseKind,
  { state, stoppedProducts }: Pick<DriftStop, 'state' | 'stoppedProducts'>,
): { readonly stops: string; readonly end: string } {
  const { noun, productNoun } = KINDS[kind];
  const products = `${productNoun} ${stoppedProducts.join(', ')}`;
  const byPerson = `\`npx reseller gate release drift:${kind}\``;
  const whole = 'when the paid purchases are delivered whole: they are read again automatically.';
  if (state === 'stopped')
    return {
      stops: `Buying ${noun}s is stopped: paid deliveries could not be used (${products}).`,
      end: `It ends ${whole} ${byPerson} lets one purchase go before that.`,
    };
  const rest = stoppedProducts.length === 0 ? '' : ` The ${products} is stopped: a paid delivery could not be used.`;
  if (state === 'product_stopped')
    return { stops: rest.trim(), end: `It ends ${whole} ${byPerson} lets one purchase go before that.` };
  const then = rest === '' ? '.' : `; for the ${products} ${whole}`;
  return {
    stops: `One ${noun} at a time goes first; the others wait until one is delivered whole.${rest}`,
    end: `It ends with the first ${noun} that is delivered whole${then}`,
  };
}
