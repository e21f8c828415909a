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

/** The notes of one leg. */
export function notesOf(leg: LegName, onFinding: (finding: TourFinding) => void) {
  return {
    step: (step: string, expected: string) => {
      const note = (status: StepStatus, seen: string) => onFinding({ leg, step, status, expected, seen });
      return {
        ok: (seen: string) => note('ok', seen),
        drift: (seen: string) => note('drift', seen),
        failed: (seen: string) => note('failed', seen),
        skipped: (reason: string) => note('skipped', reason),
        /** Records `ok` or `drift`. @returns `holds`. */
        expect: (holds: boolean, seen: string) => {
          note(holds ? 'ok' : 'drift', seen);
          return holds;
        },
      };
    },
  };
}

export type Step = ReturnType<LegRecord['step']>;

export interface LegRecord extends ReturnType<typeof notesOf> {
  readonly observations: Observations;
}

export interface Leg extends TourContext, LegRecord {}

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
