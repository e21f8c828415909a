/** The services that the model buys from, and how much may happen in one trace. */
import type { Budget } from '#test/model-check/state.ts';

/** How a service behaves where the specification is silent; as in the simulator, as far as it matters to the model. */
export interface Dialect {
  /** A key that was used: the stored result again, a 409, or nothing special. */
  readonly keys: 'replay' | 'conflict' | 'ignored';
  /** Keys are forgotten some time after the resend window. */
  readonly forgetsKeys: boolean;
  /** Two requests with one key that are carried out at once are both carried out. */
  readonly concurrent: boolean;
  readonly uniqueReferences: boolean;
  /** It can be asked for what it has under a reference. */
  readonly canBeAsked: boolean;
  /** The answer to a purchase says already that it is completed. */
  readonly completesAtOnce: boolean;
  readonly readableWallet: boolean;
}

const REPLAYS: Dialect = {
  keys: 'replay',
  forgetsKeys: false,
  concurrent: false,
  uniqueReferences: true,
  canBeAsked: true,
  completesAtOnce: false,
  readableWallet: true,
};
const LOOSE = { uniqueReferences: false } as const;

export const DIALECTS = {
  replays: REPLAYS,
  conflicts: { ...REPLAYS, keys: 'conflict' },
  reusable_references: { ...REPLAYS, ...LOOSE },
  forgets_keys: { ...REPLAYS, ...LOOSE, forgetsKeys: true },
  concurrent_keys: { ...REPLAYS, ...LOOSE, concurrent: true },
  ignores_keys: { ...REPLAYS, ...LOOSE, keys: 'ignored' },
  no_wallet: { ...REPLAYS, readableWallet: false },
  at_once: { ...REPLAYS, keys: 'conflict', completesAtOnce: true },
  bare: { ...REPLAYS, ...LOOSE, keys: 'ignored', canBeAsked: false, readableWallet: false },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

/** The product sends again only where the service is known to replay keys (its capability profile says so). */
export function isResendAllowed({ keys }: Dialect): boolean {
  return keys === 'replay';
}

/** Nothing goes wrong, two sends are enough, and the service may let one purchase fail. */
export const QUIET: Budget = { faults: 0, setBacks: 0, emptied: 0, sends: 2, refusals: 0, operator: 0, failures: 1 };

/**
 * What may happen in one trace. `faults`: a process killed or stalled, a lease that ends under its holder, a request,
 * answer or webhook lost.
 */
export const BOUNDS = {
  one_fault: { ...QUIET, faults: 1, refusals: 1 },
  two_faults: { ...QUIET, faults: 2, refusals: 1, operator: 1 },
  set_back: { ...QUIET, setBacks: 1 },
  set_back_and_fault: { ...QUIET, setBacks: 1, faults: 1, operator: 1 },
  emptied: { ...QUIET, emptied: 1, faults: 1, operator: 1 },
} as const satisfies Record<string, Budget>;

export type BoundName = keyof typeof BOUNDS;
