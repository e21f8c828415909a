/** Actions of time: leases and resend windows end. */
import type { Offer } from '#test/model-check/engine.ts';
import { isSending } from '#test/model-check/participants/offers.ts';
import type { State } from '#test/model-check/state.ts';

export function timeActions(state: State, offer: Offer): void {
  leaseActions(state, offer);
  windowActions(state, offer);
}

/** Deadlines are shorter than leases, so a lease ends early only for a killed or stalled worker. */
function leaseActions(state: State, offer: Offer): void {
  for (const attempt of [0, 1] as const) {
    if (!state.db.attempts[attempt].leaseOn) continue;
    const isInUse = state.workers.some(
      ({ phase, attempt: of, stalled }) => phase !== 'idle' && of === attempt && (!stalled || phase === 'executing'),
    );
    if (isInUse) continue;
    offer('step', `the lease on attempt ${attempt + 1} ends`, (next) => {
      next.db.attempts[attempt].leaseOn = false;
      for (const worker of next.workers) if (worker.phase !== 'idle' && worker.attempt === attempt) worker.over = true;
    });
  }
}

/** The resend window is longer than a send. */
function windowActions(state: State, offer: Offer): void {
  for (const attempt of [0, 1] as const) {
    const bit = 1 << attempt;
    const { windowStarted, windowOver } = state.db.attempts[attempt];
    const isRunning = (windowStarted && !windowOver) || ((state.left & bit) !== 0 && (state.windowsOver & bit) === 0);
    if (!isRunning || isSending(state, attempt)) continue;
    offer('step', `the resend window of attempt ${attempt + 1} ends`, (next) => {
      for (const { attempts } of [next.db, next.saved])
        if (attempts[attempt].windowStarted) attempts[attempt].windowOver = true;
      if ((next.left & bit) !== 0) next.windowsOver |= bit;
    });
  }
}
