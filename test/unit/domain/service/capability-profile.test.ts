import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type Policy } from '#domain/policy/policy.ts';
import { effectivePolicy, type JudgedProfile, type ProfileItem } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

const PROVEN = { key_replay: true, key_serialised: true, key_retention: null } as const;

const profile = (findings: Partial<Record<ProfileItem, boolean | null>>, confirmed = false): JudgedProfile => ({
  findings,
  confirmed,
});
const policy = (resendAllowed = true): Policy => ({
  ...DEFAULT_POLICY,
  purchase: { ...DEFAULT_POLICY.purchase, resendAllowed },
});
const allowsResend = (given: JudgedProfile | undefined, mode: ServiceMode, configured = true) =>
  effectivePolicy(policy(configured), given, mode).purchase.resendAllowed;

describe('the policy of workers', () => {
  it.each<[string, boolean, JudgedProfile | undefined, ServiceMode]>([
    ['in production without a profile', false, undefined, 'production'],
    ['in production with an unconfirmed profile', false, profile(PROVEN), 'production'],
    ['in production with a confirmed profile', true, profile(PROVEN, true), 'production'],
    ['in the sandbox with its newest profile', true, profile(PROVEN), 'sandbox'],
    ['in the sandbox without a profile', true, undefined, 'sandbox'],
  ])('%s allows resends: %s, and never more than the configuration', (_name, allowed, given, mode) => {
    expect(allowsResend(given, mode)).toBe(allowed);
    expect(allowsResend(given, mode, false)).toBe(false);
  });

  it.each([
    ['keys are not replayed', { ...PROVEN, key_replay: false }],
    ['the probe had no result', { ...PROVEN, key_replay: null }],
    ['the profile does not say', {}],
    ['keys are forgotten within the window', { ...PROVEN, key_retention: false }],
    ['two sends at once buy twice', { ...PROVEN, key_serialised: false }],
  ])('allows no resend when %s, confirmed or not', (_, findings) => {
    expect(allowsResend(profile(findings, true), 'production')).toBe(false);
    expect(allowsResend(profile(findings), 'sandbox')).toBe(false);
  });

  it('keeps all other settings, also new attempts, which prove their evidence', () => {
    const { purchase, ...rest } = effectivePolicy(policy(), undefined, 'production');
    const { purchase: configured, ...others } = policy();
    expect(rest).toEqual(others);
    expect(purchase).toEqual({ ...configured, resendAllowed: false });
  });
});
