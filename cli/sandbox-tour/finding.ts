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
export type Leg = keyof typeof LEGS;
export const legs = Object.keys(LEGS) as readonly Leg[];

/**
 * Result of a step. `ok`: as expected. `drift`: the service works, but differs from our contract or configuration.
 * `failed`: the step failed. `skipped`: it could not be tried.
 */
export type StepStatus = 'ok' | 'drift' | 'failed' | 'skipped';

/** One step of the tour. Its texts are our own, with counts and package ids: no secrets, no personal data. */
export interface TourFinding {
  readonly leg: Leg;
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

  leg(leg: Leg): LegNotes {
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
