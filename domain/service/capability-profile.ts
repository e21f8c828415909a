import type { Policy } from '#domain/policy/policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

/** The specification does not state these. Without one of them work with an unknown result needs attention. */
export const CAPABILITIES = {
  key_replay: 'A repeated Idempotency-Key returns the stored result. Without it, nothing is sent twice.',
  order_read: 'GET /orders/{id} exists. Without it, only webhooks report the result of an order.',
  order_list:
    'GET /orders can be filtered by external_order_id. Without it, an order without an id cannot be looked up.',
  wallet_transactions:
    'GET /wallet/transactions exists. Without it, there is no evidence of a debit: failures need attention.',
  public_packages: 'GET /public/packages exists. Without it, the public price of a package is not shown.',
  esim_usage:
    'GET /esims/{id}/usage exists. Without it, usage is unknown, and so is one condition of a refund; the service ' +
    'decides.',
  topup_read: 'GET /topups/{id} exists. Without it, only webhooks report the result of a top-up.',
  topup_list: 'GET /topups can be filtered by esim_id. Without it, a top-up whose answer was lost needs attention.',
  refund_read: 'GET /refunds/{id} exists. Without it, only webhooks report the result of a refund.',
  refund_list:
    'GET /refunds can be filtered by esim_id. Without it, a refund whose id is unknown keeps the status `expected`.',
  vpn_subscription_read:
    'GET /vpn/subscriptions/{id} exists. Without it, only webhooks report the state, and access data comes with the ' +
    'answer to the order or not at all.',
  vpn_subscription_list:
    'GET /vpn/subscriptions can be filtered by external_subscription_id. Without it, a VPN order whose answer was ' +
    'lost needs attention.',
  openapi_download:
    'The OpenAPI document can be downloaded by a call. Without it, a person gives the file to the contract check.',
  sandbox_simulation: 'The sandbox simulation can be called. Without it, the sandbox tour leaves the refund paths out.',
  webhook_secret:
    'The webhook secret can be created and rotated by a call. Without it, that is done at the service, and the ' +
    'secret is entered by hand.',
} as const;

export type Capability = keyof typeof CAPABILITIES;
export const capabilities = Object.keys(CAPABILITIES) as readonly Capability[];
export type Capabilities = Readonly<Record<Capability, boolean>>;

export const ALL_CAPABILITIES = Object.fromEntries(capabilities.map((each) => [each, true])) as Capabilities;

/** Behaviour that is no call of its own and cannot be switched off. */
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

export const PROFILE_ITEMS: Readonly<Record<ProfileItem, string>> = { ...CAPABILITIES, ...TRAITS };
export const profileItems = Object.keys(PROFILE_ITEMS) as readonly ProfileItem[];

export interface MeasuredProfile {
  readonly findings: Readonly<Record<ProfileItem, boolean | null>>;
  readonly evidence: Readonly<Record<ProfileItem, string>>;
}

export interface JudgedProfile {
  readonly findings: Readonly<Partial<Record<ProfileItem, boolean | null>>>;
  readonly confirmed: boolean;
}

export interface Permission {
  readonly allowed: boolean;
  readonly because: string;
}

/**
 * *Resends*: the bytes of an unanswered purchase, with their key. In production they need a confirmed profile; in the
 * sandbox no money is at risk. A new attempt needs none: the reading of the wallet before it proves itself.
 * @param configured can forbid, never allow.
 */
export function permissions(
  configured: { readonly resendAllowed: boolean },
  profile: JudgedProfile | undefined,
  mode: ServiceMode,
): Readonly<Record<'resends' | 'newAttempts', Permission>> {
  const resends = configured.resendAllowed ? resendsBy(profile) : no('the configuration does not allow it');
  return {
    resends: unprovenIn(profile, mode) ?? resends,
    newAttempts: yes('each needs a reading of the wallet that proves that the attempt before cost nothing'),
  };
}

/** The policy limited by the profile, which never extends it. @param profile the newest of the sandbox. */
export function effectivePolicy(policy: Policy, profile: JudgedProfile | undefined, mode: ServiceMode): Policy {
  const { resends } = permissions(policy.purchase, profile, mode);
  return { ...policy, purchase: { ...policy.purchase, resendAllowed: resends.allowed } };
}

function unprovenIn(profile: JudgedProfile | undefined, mode: ServiceMode): Permission | undefined {
  if (mode === 'sandbox' || profile?.confirmed === true) return undefined;
  return no(profile === undefined ? 'there is no capability profile' : 'the capability profile is not confirmed');
}

function resendsBy(profile: JudgedProfile | undefined): Permission {
  if (profile === undefined) return yes('nothing was measured yet, and this is the sandbox');
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
