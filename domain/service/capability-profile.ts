/**
 * The capability profile: what `reseller sandbox tour` found the service able to do. An operator confirms it, and the
 * policy of the workers is limited to what it allows.
 */
import type { Policy } from '#domain/policy/policy.ts';
import { CAPABILITIES, type Capability } from '#domain/service/capabilities.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

/** Behaviour that is no call of its own. It cannot be switched off, so it is no capability. */
const TRAITS = {
  key_retention: 'The service still knows a key at the end of the time for resends.',
  key_serialised:
    'Two sends of one key at the same moment buy once. Otherwise a resend may overtake a slow first send.',
  reference_unique: 'A second order with the same external_order_id, under another key, buys nothing.',
  debits_at_once: 'A debit shows in the wallet transactions as soon as the purchase is answered.',
  order_seen: 'An order was bought, completed and delivered, and every answer was as the contract has it.',
  topup_seen: 'A top-up was bought and completed, and every answer was as the contract has it.',
  vpn_seen: 'A VPN subscription was bought and became active, and its access data were read.',
} as const;

export type Trait = keyof typeof TRAITS;
export type ProfileItem = Capability | Trait;

/** All items of a profile, each with its meaning. */
export const PROFILE_ITEMS: Readonly<Record<ProfileItem, string>> = { ...CAPABILITIES, ...TRAITS };
export const profileItems = Object.keys(PROFILE_ITEMS) as readonly ProfileItem[];

/** By item: true, false, or null when the probe could not tell. */
type ProfileFindings = Readonly<Record<ProfileItem, boolean | null>>;

/** The findings, with a sentence for each item that names the test and its result. */
export interface MeasuredProfile {
  readonly findings: ProfileFindings;
  readonly evidence: Readonly<Record<ProfileItem, string>>;
}

/** The part of a stored profile that decides about permissions. */
export interface JudgedProfile {
  /** A profile of another version may lack an item, which counts as null. */
  readonly findings: Readonly<Partial<Record<ProfileItem, boolean | null>>>;
  /** True when an operator has confirmed it for production. */
  readonly confirmed: boolean;
}

/** Whether something is allowed, and the reason as a clause. */
export interface Permission {
  readonly allowed: boolean;
  readonly because: string;
}

export interface Permissions {
  /** Resending the bytes of an unanswered purchase with their key. */
  readonly resends: Permission;
  /** Buying a failed order again with a new key. */
  readonly newAttempts: Permission;
}

/**
 * What a profile allows. In the sandbox resends are allowed without a profile, because no money is at risk. In
 * production they are not allowed until a profile is confirmed. A new attempt needs no profile: the reading of the
 * wallet that precedes it proves itself.
 * @param configured `resendAllowed` of the configuration: it can forbid, never allow.
 * @param profile the newest; undefined when there is none.
 */
export function permissions(
  configured: { readonly resendAllowed: boolean },
  profile: JudgedProfile | undefined,
  mode: ServiceMode,
): Permissions {
  const resends = configured.resendAllowed ? resendsBy(profile) : no('the configuration does not allow it');
  return {
    resends: unprovenIn(profile, mode) ?? resends,
    newAttempts: yes('each needs a reading of the wallet that proves that the attempt before cost nothing'),
  };
}

/**
 * The policy that workers use: the configured policy, limited by the profile. A profile never extends it.
 * @param policy as configured.
 * @param profile the newest of the sandbox; undefined when there is none.
 * @param mode of the service that we buy from.
 */
export function effectivePolicy(policy: Policy, profile: JudgedProfile | undefined, mode: ServiceMode): Policy {
  const { resends } = permissions(policy.purchase, profile, mode);
  return { ...policy, purchase: { ...policy.purchase, resendAllowed: resends.allowed } };
}

const NOT_MEASURED = 'nothing was measured yet, and this is the sandbox';

function unprovenIn(profile: JudgedProfile | undefined, mode: ServiceMode): Permission | undefined {
  if (mode === 'sandbox' || profile?.confirmed === true) return undefined;
  return no(profile === undefined ? 'there is no capability profile' : 'the capability profile is not confirmed');
}

function resendsBy(profile: JudgedProfile | undefined): Permission {
  if (profile === undefined) return yes(NOT_MEASURED);
  const { key_replay, key_retention, key_serialised } = profile.findings;
  if (key_replay === false) return no('a repeated key does not return the stored result');
  if (key_replay !== true) return no('the probe could not tell whether a repeated key returns the stored result');
  if (key_retention === false) return no('keys are forgotten before the time for resends is over');
  if (key_serialised === false) return no('two sends of one key at the same moment buy twice');
  return yes('a repeated key returns the stored result');
}

function yes(because: string): Permission {
  return { allowed: true, because };
}

function no(because: string): Permission {
  return { allowed: false, because };
}
