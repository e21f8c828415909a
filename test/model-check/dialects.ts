/** The services of the model, and the bounds of a trace. */
import type { Budget } from '#test/model-check/state.ts';

/** Behaviour of a service that the specification does not define. A part of the simulator's dialects. */
export interface Dialect {
  /** Answer to a used key: the stored result, a 409, or as to a new key. */
  readonly keys: 'replay' | 'conflict' | 'ignored';
  /** The service forgets keys some time after the resend window. */
  readonly forgetsKeys: boolean;
  /** The service executes two concurrent requests with one key twice. */
  readonly concurrent: boolean;
  readonly uniqueReferences: boolean;
  /** A purchase can be looked up by its reference. */
  readonly hasLookUp: boolean;
  /** The answer to a purchase reports it as completed. */
  readonly completesAtOnce: boolean;
  /**
   * The list of the wallet: it shows each movement at once, late, or never; its filter is shifted, so that it shows
   * nothing; or it cannot be read. Its balance is right.
   */
  readonly wallet: 'shows' | 'delays' | 'omits' | 'shifts' | 'unreadable';
}

const REPLAYS: Dialect = {
  keys: 'replay',
  forgetsKeys: false,
  concurrent: false,
  uniqueReferences: true,
  hasLookUp: true,
  completesAtOnce: false,
  wallet: 'shows',
};
const LOOSE = { uniqueReferences: false } as const;

export const DIALECTS = {
  replays: REPLAYS,
  conflicts: { ...REPLAYS, keys: 'conflict' },
  reusable_references: { ...REPLAYS, ...LOOSE },
  forgets_keys: { ...REPLAYS, ...LOOSE, forgetsKeys: true },
  concurrent_keys: { ...REPLAYS, ...LOOSE, concurrent: true },
  ignores_keys: { ...REPLAYS, ...LOOSE, keys: 'ignored' },
  no_wallet: { ...REPLAYS, wallet: 'unreadable' },
  at_once: { ...REPLAYS, keys: 'conflict', completesAtOnce: true },
  bare: { ...REPLAYS, ...LOOSE, keys: 'ignored', hasLookUp: false, wallet: 'unreadable' },
  wallet_delays: { ...REPLAYS, wallet: 'delays' },
  wallet_omits: { ...REPLAYS, wallet: 'omits' },
  wallet_shifts: { ...REPLAYS, wallet: 'shifts' },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

/** The product sends again only if the capability profile contains the replay of keys. */
export function isResendAllowed({ keys }: Dialect): boolean {
  return keys === 'replay';
}

/** No faults, two sends, and at most one failed purchase. */
export const QUIET: Budget = { faults: 0, setBacks: 0, emptied: 0, sends: 2, refusals: 0, operator: 0, failures: 1 };

/** `faults` counts killed and stalled processes, early ends of leases, and lost requests, answers and webhooks. */
export const BOUNDS = {
  one_fault: { ...QUIET, faults: 1, refusals: 1 },
  two_faults: { ...QUIET, faults: 2, refusals: 1, operator: 1 },
  set_back: { ...QUIET, setBacks: 1 },
  set_back_and_fault: { ...QUIET, setBacks: 1, faults: 1, operator: 1 },
  emptied: { ...QUIET, emptied: 1, faults: 1, operator: 1 },
} as const satisfies Record<string, Budget>;

export type BoundName = keyof typeof BOUNDS;
