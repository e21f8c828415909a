import type { Dialect } from '#test/model-check/dialects.ts';
import type { Offer } from '#test/model-check/engine.ts';
import { offerFault } from '#test/model-check/participants/offers.ts';
import type { Answer, ServicePurchase, State } from '#test/model-check/state.ts';

type Reported = 'processing' | 'completed' | 'failed';

/** Number of debits of an attempt without a credit. */
export function debitsOf(state: State, attempt?: number): number {
  let debits = 0;
  for (const purchase of state.purchases) {
    const counts = purchase.state !== 'none' && purchase.state !== 'paid_back';
    if (counts && (attempt === undefined || purchase.attempt === attempt)) debits += 1;
  }
  return debits;
}

/** The report about the only purchase with an attempt's reference; undefined for none, several, or no such call. */
export function lookUp(state: State, dialect: Dialect, attempt: number): Reported | undefined {
  if (!dialect.hasLookUp) return undefined;
  const [one, another] = state.purchases.filter((each) => each.state !== 'none' && each.attempt === attempt);
  return one === undefined || another !== undefined ? undefined : reportOf(one);
}

function reportOf({ state }: ServicePurchase): Reported | undefined {
  if (state === 'none') return undefined;
  return state === 'paid_back' ? 'failed' : state;
}

/** The purchase that the service would find under the key of a request. */
export function knownByKey(
  { purchases, forgotten }: State,
  dialect: Dialect,
  attempt: number,
  key: number,
): ServicePurchase | undefined {
  if (dialect.keys === 'ignored' || (forgotten & (1 << attempt)) !== 0) return undefined;
  return purchases.find((each) => each.state !== 'none' && each.attempt === attempt && each.key === key);
}

export function execute(state: State, dialect: Dialect, attempt: number, key: number): Answer {
  const known = knownByKey(state, dialect, attempt, key);
  if (known !== undefined) return dialect.keys === 'replay' ? (reportOf(known) ?? 'nothing') : 'known';
  return buy(state, dialect, attempt, key);
}

/** Executes a request with a new key. */
export function buy(state: State, dialect: Dialect, attempt: number, key: number): Answer {
  const isReferenceKnown = state.purchases.some((each) => each.state !== 'none' && each.attempt === attempt);
  if (dialect.uniqueReferences && isReferenceKnown) return 'known';
  const free = state.purchases.find((each) => each.state === 'none');
  if (free === undefined) return 'nothing';
  free.state = dialect.completesAtOnce ? 'completed' : 'processing';
  free.attempt = attempt;
  free.key = key;
  free.hook = dialect.completesAtOnce;
  return free.state;
}

export function serviceActions(state: State, dialect: Dialect, offer: Offer): void {
  for (const [index, { state: at, attempt, hook }] of state.purchases.entries()) {
    const of = `attempt ${attempt + 1}`;
    if (at === 'processing') {
      offer('step', `the service completes the purchase of ${of}`, (next) =>
        Object.assign(next.purchases[index]!, { state: 'completed', hook: true }),
      );
      if (state.budget.failures > 0)
        offer('fault', `the service lets the purchase of ${of} fail`, (next) => {
          Object.assign(next.purchases[index]!, { state: 'failed', hook: true });
          next.budget.failures -= 1;
        });
    }
    if (at === 'failed')
      offer('fault', `the service pays back the price of ${of}`, (next) => {
        next.purchases[index]!.state = 'paid_back';
      });
    if (!hook) continue;
    // The API stores the delivery before its answer. One delivery of an attempt is one row.
    offer('step', `the webhook about ${of} is stored in the inbox`, (next) => {
      const purchase = next.purchases[index]!;
      purchase.hook = false;
      storeReport(next, attempt * 2, reportOf(purchase) === 'failed');
    });
    offerFault(state, offer, `the webhook about ${of} is lost`, (next) => {
      next.purchases[index]!.hook = false;
    });
  }
  if (state.late > 0) {
    // The service processes two requests with one key in sequence, except those of two workers (`Dialect.concurrent`).
    const isExecuting = state.workers.some(({ phase }) => phase === 'executing');
    if (!isExecuting)
      offer('fault', 'the late request reaches the service', (next) => {
        const request = next.late - 1;
        next.late = 0;
        execute(next, dialect, request >> 1, request & 1);
      });
    offer('step', 'the late request is lost', (next) => void (next.late = 0));
  }
  if (dialect.forgetsKeys) offerForgetting(state, offer);
}

/** Stores a report in its row of the inbox. */
export function storeReport({ db }: State, place: number, failed: boolean): void {
  const row = db.rows[place]!;
  if (row.state === 'absent') Object.assign(row, { state: 'pending', decision: 'none', failed, leased: false });
}

/** True while a late request of an attempt has neither arrived nor been lost. */
export function hasLateRequest({ late }: State, attempt: number): boolean {
  return late > 0 && (late - 1) >> 1 === attempt;
}

/** Keys are forgotten later than a lease after the end of the window, so no request is in progress. */
function offerForgetting(state: State, offer: Offer): void {
  for (const attempt of [0, 1]) {
    const bit = 1 << attempt;
    const isInProgress =
      hasLateRequest(state, attempt) ||
      state.workers.some(
        ({ attempt: of, phase, over }) =>
          of === attempt && (phase === 'wire' || phase === 'executing' || (phase !== 'idle' && !over)),
      );
    if ((state.windowsOver & bit) === 0 || (state.forgotten & bit) !== 0 || isInProgress) continue;
    offer('fault', `the service forgets the key of attempt ${attempt + 1}`, (next) => void (next.forgotten |= bit));
  }
}
