import type { Observations } from '#cli/sandbox-tour/observations.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { ServiceClient } from '#upstream/client.ts';

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

/** `drift`: the service works, but differs from our contract or configuration. `skipped`: it could not be tried. */
export type StepStatus = 'ok' | 'drift' | 'failed' | 'skipped';

/** Contains our own texts, counts and package ids: no secrets, no personal data. */
export interface TourFinding {
  readonly leg: LegName;
  readonly step: string;
  readonly status: StepStatus;
  readonly expected: string;
  readonly seen: string;
}

export interface LegNotes {
  ok(step: string, expected: string, seen?: string): void;
  drift(step: string, expected: string, seen: string): void;
  failed(step: string, expected: string, seen: string): void;
  skipped(step: string, expected: string, reason: string): void;
  /** Records `ok` or `drift`. @returns `holds`. */
  expect(holds: boolean, step: string, expected: string, seen: string): boolean;
}

export interface LegRecord extends LegNotes {
  readonly observations: Observations;
}

export interface Leg extends TourContext, LegRecord {}

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

export function tourExitCode(findings: readonly TourFinding[]): number {
  return findings.some(({ status }) => status === 'failed' || status === 'drift') ? 1 : 0;
}

export interface TourContext {
  readonly client: ServiceClient;
  /** The client of the tour has all capabilities switched on. */
  readonly configured: Capabilities;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly delay: (ms: number) => Promise<unknown>;
  /** For keys and references. */
  readonly newId: () => string;
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** @returns undefined after `waitMs`. */
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
