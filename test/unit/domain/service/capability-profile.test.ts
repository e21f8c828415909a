import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type Policy } from '#domain/policy/policy.ts';
import {
  effectivePolicy,
  permissions,
  type JudgedProfile,
  type ProfileItem,
} from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

const PROVEN = { key_replay: true, key_serialised: true, key_retention: null } as const;

const profile = (findings: Partial<Record<ProfileItem, boolean | null>>, confirmed = false): JudgedProfile => ({
  findings,
  confirmed,
});
const policy = (resendAllowed = true): Policy => ({
  ...DEFAULT_POLICY,
  purchase: { ...DEFAULT_POLICY.purchase, resendAllowed, maxAttempts: 3 },
});
const outcome = (given: JudgedProfile | undefined, mode: ServiceMode, configured = true) => {
  const { resendAllowed, maxAttempts } = effectivePolicy(policy(configured), given, mode).purchase;
  return { resendAllowed, maxAttempts };
};

const NO_RESEND = { resendAllowed: false, maxAttempts: 3 };

describe('the policy of workers', () => {
  it.each([
    ['without a profile', undefined],
    ['with an unconfirmed one', profile(PROVEN)],
  ])('allows no resend in production %s, but new attempts, which prove their evidence', (_, given) => {
    expect(outcome(given, 'production')).toEqual(NO_RESEND);
  });

  it('follows a confirmed profile in production', () => {
    expect(outcome(profile(PROVEN, true), 'production')).toEqual({ resendAllowed: true, maxAttempts: 3 });
  });

  it('follows the newest profile of the sandbox, and the configuration without a profile', () => {
    expect(outcome(profile(PROVEN), 'sandbox')).toEqual({ resendAllowed: true, maxAttempts: 3 });
    expect(outcome(undefined, 'sandbox')).toEqual({ resendAllowed: true, maxAttempts: 3 });
  });

  it.each([
    ['keys are not replayed', { ...PROVEN, key_replay: false }],
    ['the probe had no result', { ...PROVEN, key_replay: null }],
    ['the profile does not say', {}],
    ['keys are forgotten within the window', { ...PROVEN, key_retention: false }],
    ['two sends at once buy twice', { ...PROVEN, key_serialised: false }],
  ])('allows no resend when %s, confirmed or not', (_, findings) => {
    expect(outcome(profile(findings, true), 'production')).toEqual({ resendAllowed: false, maxAttempts: 3 });
    expect(outcome(profile(findings), 'sandbox').resendAllowed).toBe(false);
  });

  it('never allows more than the configuration', () => {
    expect(outcome(profile(PROVEN, true), 'production', false).resendAllowed).toBe(false);
    expect(outcome(profile(PROVEN), 'sandbox', false).resendAllowed).toBe(false);
    expect(outcome(undefined, 'sandbox', false).resendAllowed).toBe(false);
  });

  it('keeps all other settings', () => {
    const { purchase, ...rest } = effectivePolicy(policy(), undefined, 'production');
    const { purchase: configured, ...others } = policy();
    expect(rest).toEqual(others);
    expect(purchase).toEqual({ ...configured, ...NO_RESEND });
  });
});

describe('the reason of a permission', () => {
  it.each([
    [undefined, 'production', true, /no capability profile/],
    [profile(PROVEN), 'production', true, /not confirmed/],
    [profile(PROVEN, true), 'production', false, /configuration/],
    [profile({ ...PROVEN, key_replay: null }), 'sandbox', true, /could not tell/],
    [profile({ ...PROVEN, key_retention: false }), 'sandbox', true, /forgotten/],
    [profile({ ...PROVEN, key_serialised: false }), 'sandbox', true, /same moment/],
    [profile(PROVEN), 'sandbox', true, /returns the stored result/],
  ] as const)('is included (%#)', (given, mode, resendAllowed, reason) => {
    expect(permissions({ resendAllowed }, given, mode).resends.because).toMatch(reason);
  });
});
