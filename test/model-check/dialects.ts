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
  keys: 'replay', forgetsKeys: false, concurrent: false, uniqueReferences: true, canBeAsked: true, completesAtOnce: false, readableWallet: true,
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

const NOTHING_LOST: Budget = { faults: 0, setBacks: 0, emptied: 0, sends: 3, refusals: 0, operator: 0, failures: 1 };

/** What may happen, by what it looks into. Together they are the bound of a run. */
export const BOUNDS = {
  processes: { ...NOTHING_LOST, faults: 2, refusals: 1, operator: 1 },
  set_back: { ...NOTHING_LOST, faults: 1, setBacks: 1, operator: 1 },
  emptied: { ...NOTHING_LOST, faults: 1, emptied: 1, refusals: 1, operator: 1 },
} as const satisfies Record<string, Budget>;

export type BoundName = keyof typeof BOUNDS;

/** The same with less of it, for a run of seconds. */
export const SMALL_BOUNDS = {
  processes: { ...NOTHING_LOST, faults: 2, sends: 2 },
  set_back: { ...NOTHING_LOST, setBacks: 1, faults: 1, sends: 2, failures: 0 },
  emptied: { ...NOTHING_LOST, emptied: 1, faults: 1, sends: 2, failures: 0 },
} as const satisfies Record<BoundName, Budget>;
