/** The parts of the tour, in the order in which they are driven and shown. */
export const LEGS = {
  account: 'account',
  catalogue: 'catalogue',
  order: 'order',
  delivery: 'delivery',
  look_up: 'look-up',
  simulation: 'simulation',
  topup: 'top-up',
  cancellation: 'cancellation',
  vpn: 'VPN',
  keys: 'keys',
} as const;
export type Leg = keyof typeof LEGS;
export const legs = Object.keys(LEGS) as readonly Leg[];

/**
 * How a step went: `ok` as expected; `drift`: the service works, but not as our contract and configuration have it;
 * `failed`: it did not come about; `skipped`: it could not be tried.
 */
export type StepStatus = 'ok' | 'drift' | 'failed' | 'skipped';

/** One step of the tour. Texts are our own words, counts and ids of packages: nothing secret, nothing personal. */
export interface TourFinding {
  readonly leg: Leg;
  /** What was tried, as a short phrase. */
  readonly step: string;
  readonly status: StepStatus;
  /** What the contract or the configuration makes us expect, as a clause. */
  readonly expected: string;
  /** What came of it, as a clause. */
  readonly seen: string;
}

/** Where a leg writes down its steps. */
export interface LegNotes {
  ok(step: string, expected: string, seen?: string): void;
  drift(step: string, expected: string, seen: string): void;
  failed(step: string, expected: string, seen: string): void;
  /** @param reason what stands in the way, as a clause. */
  skipped(step: string, expected: string, reason: string): void;
  /** `ok` when it holds, else drift. @returns whether it holds. */
  expect(holds: boolean, step: string, expected: string, seen: string): boolean;
}

/** Every step of a tour, told to whoever watches as it is written down. */
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
