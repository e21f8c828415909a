/** What several participants need to offer their actions. */
import type { Offer } from '#test/model-check/engine.ts';
import type { State } from '#test/model-check/state.ts';

/** True while a worker that is not stalled sends an attempt. */
export function isSending({ workers }: State, attempt: number): boolean {
  return workers.some(({ phase, stalled, attempt: of }) => phase !== 'idle' && !stalled && of === attempt);
}

/** Offers a fault, if the bound allows one more. */
export function offerFault({ budget }: State, offer: Offer, sentence: string, change: (next: State) => void): void {
  if (budget.faults === 0) return;
  offer('fault', sentence, (next) => {
    next.budget.faults -= 1;
    change(next);
  });
}
