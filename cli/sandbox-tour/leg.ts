/** What every leg of the tour gets, and the record of its steps. */
import type { Observations } from '#cli/sandbox-tour/observations.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** The parts of the tour, in the order in which they run and are shown. */
export const LEGS = {
  account: 'account',
  catalogue: 'catalogue',
  order: 'order',
  delivery: 'delivery',
  look_up: 'look-up',
  wallet: 'wallet',
  simulation: 'simulation',
  topup: 'top-up',
  cancellation: 'cancellation',
  vpn: 'VPN',
  keys: 'keys',
} as const;
export type LegName = keyof typeof LEGS;

/**
 * Result of a step. `ok`: as expected. `drift`: the service works, but differs from our contract or configuration.
 * `failed`: the step failed. `skipped`: it could not be tried.
 */
export type StepStatus = 'ok' | 'drift' | 'failed' | 'skipped';

/** One step of the tour. Its texts are our own, with counts and package ids: no secrets, no personal data. */
export interface TourFinding {
  readonly leg: LegName;
  /** What was tried, as a short phrase. */
  readonly step: string;
  readonly status: StepStatus;
  /** What the contract or the configuration says, as a clause. */
  readonly expected: string;
  /** What the service did, as a clause. */
  readonly seen: string;
}

/** Records the steps of one leg. */
export interface LegNotes {
  ok(step: string, expected: string, seen?: string): void;
  drift(step: string, expected: string, seen: string): void;
  failed(step: string, expected: string, seen: string): void;
  /** @param reason why the step was not tried, as a clause. */
  skipped(step: string, expected: string, reason: string): void;
  /** Records `ok` when it holds, else `drift`. @returns `holds`. */
  expect(holds: boolean, step: string, expected: string, seen: string): boolean;
}

/** The record of a leg's steps, and what the tour has observed so far. */
export interface LegRecord extends LegNotes {
  readonly observations: Observations;
}

/** What a leg works with. */
export interface Leg extends TourContext, LegRecord {}

/** Records all steps of a tour, and passes each to `onFinding` at once. */
export class Notebook {
  readonly #findings: TourFinding[] = [];
  readonly #onFinding: (finding: TourFinding) => void;

  constructor(onFinding: (finding: TourFinding) => void) {
    this.#onFinding = onFinding;
  }

  get findings(): readonly TourFinding[] {
    return this.#findings;
  }

  leg(leg: LegName): LegNotes {
    const note = (status: StepStatus, step: string, expected: string, seen: string): void => {
      const finding = { leg, step, status, expected, seen };
      this.#findings.push(finding);
      this.#onFinding(finding);
    };
    return {
      ok: (step, expected, seen = expected) => note('ok', step, expected, seen),
      drift: (step, expected, seen) => note('drift', step, expected, seen),
      failed: (step, expected, seen) => note('failed', step, expected, seen),
      skipped: (step, expected, reason) => note('skipped', step, expected, reason),
      expect: (holds, step, expected, seen) => {
        note(holds ? 'ok' : 'drift', step, expected, seen);
        return holds;
      },
    };
  }
}

/** @returns 0 when nothing failed or drifted, else 1. */
export function tourExitCode(findings: readonly TourFinding[]): number {
  return findings.some(({ status }) => status === 'failed' || status === 'drift') ? 1 : 0;
}

/** Dependencies of every leg of a tour. */
export interface TourContext {
  readonly client: ServiceClient;
  /** The configured capabilities of the service. The client of the tour has all of them switched on. */
  readonly configured: Capabilities;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly delay: (ms: number) => Promise<unknown>;
  /** Returns a new unique text, for keys and references. */
  readonly newId: () => string;
  /** How long the tour waits for a result, in milliseconds. */
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Calls `read` with growing pauses until it returns a value.
 *
 * @param read returns undefined while there is no value yet.
 * @returns undefined when `waitMs` has passed.
 */
export async function until<Value>(
  { now, delay, waitMs }: Pick<TourContext, 'now' | 'delay' | 'waitMs'>,
  read: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const endsAt = now() + waitMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const found = await read();
    if (found !== undefined) return found;
    const left = endsAt - now();
    if (left <= 0) return undefined;
    await delay(Math.min(pause, left));
  }
}
