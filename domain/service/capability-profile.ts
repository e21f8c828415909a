/**
 * What a probe found the service able to do, and how far that may be relied upon. `reseller sandbox tour` measures a
 * profile, an operator confirms it, and the policy that workers give their workflows is cut down to what it allows.
 */
import type { Policy } from '#domain/policy/policy.ts';
import { CAPABILITIES, type Capability } from '#domain/service/capabilities.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { RetryRules } from '#domain/work/retry-rules.ts';

/** How the service behaves beside its calls. No call can be switched off for them, so they are no capabilities. */
const TRAITS = {
  key_retention: 'A repeated key is still known when the time for resends is over.',
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

/** Everything that a profile tells, each with its meaning. */
export const PROFILE_ITEMS: Readonly<Record<ProfileItem, string>> = { ...CAPABILITIES, ...TRAITS };
export const profileItems = Object.keys(PROFILE_ITEMS) as readonly ProfileItem[];

/** By item: true, false, or null where the probe could not tell. */
type ProfileFindings = Readonly<Record<ProfileItem, boolean | null>>;

/** What was found, with a sentence for each item that says what was tried and what came of it. */
export interface MeasuredProfile {
  readonly findings: ProfileFindings;
  readonly evidence: Readonly<Record<ProfileItem, string>>;
}

/** The part of a stored profile that decides what may be done. */
export interface JudgedProfile {
  /** A profile of another version may lack an item; that is like null. */
  readonly findings: Readonly<Partial<Record<ProfileItem, boolean | null>>>;
  /** An operator has said that production may rely on it. */
  readonly confirmed: boolean;
}

/** Whether something may be done, and the clause that says why or why not. */
export interface Permission {
  readonly allowed: boolean;
  readonly because: string;
}

export interface Permissions {
  /** Sending the bytes of an unanswered purchase again, with their key. */
  readonly resends: Permission;
  /** Buying a failed order anew, with a new key. */
  readonly newAttempts: Permission;
}

/**
 * What a profile allows. In the sandbox nothing is lost by trying, so without a profile everything is allowed there; in
 * production nothing is until a profile was confirmed.
 *
 * @param configured `resendAllowed` as the configuration has it: it can take away, never give.
 * @param profile the newest; undefined when there is none.
 */
export function permissions(
  configured: { readonly resendAllowed: boolean },
  profile: JudgedProfile | undefined,
  mode: ServiceMode,
): Permissions {
  const unproven = unprovenIn(profile, mode);
  return {
    resends: unproven ?? (configured.resendAllowed ? resendsBy(profile) : no('the configuration does not allow it')),
    newAttempts: unproven ?? yes(profile === undefined ? NOT_MEASURED : 'they need evidence from the wallet each time'),
  };
}

/**
 * The policy that workers use: the configured one, cut down to what the profile allows. A profile never adds anything.
 *
 * @param policy as configured.
 * @param profile the newest of the sandbox; undefined when there is none.
 * @param mode of the service that is bought from.
 */
export function effectivePolicy(policy: Policy, profile: JudgedProfile | undefined, mode: ServiceMode): Policy {
  const { resends, newAttempts } = permissions(policy.purchase, profile, mode);
  return {
    ...policy,
    purchase: {
      ...policy.purchase,
      resendAllowed: resends.allowed,
      ...(!newAttempts.allowed && { maxAttempts: 1, ...withoutAttempts(policy.purchase.retryRules) }),
    },
  };
}

/** Sets the attempts of each failure class to one as well. */
function withoutAttempts(rules: RetryRules | undefined): { readonly retryRules?: RetryRules } {
  if (rules?.supplier_failed?.attempts === undefined) return {};
  return { retryRules: { ...rules, supplier_failed: { ...rules.supplier_failed, attempts: 1 } } };
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
