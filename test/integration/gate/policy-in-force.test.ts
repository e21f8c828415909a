import { describe, expect, it } from 'vitest';
import { addCapabilityProfile, confirmCapabilityProfile } from '#db/service/capability-profiles.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { profileItems, type ProfileItem } from '#domain/service/capability-profile.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { policyInForce } from '#worker/composition.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const inForce = async (mode: 'sandbox' | 'production') => {
  const { resendAllowed, maxAttempts } = (await database.run((db) => policyInForce(db, DEFAULT_POLICY, mode))).purchase;
  return { resendAllowed, maxAttempts };
};
const all = <Value>(value: Value) =>
  Object.fromEntries(profileItems.map((item) => [item, value])) as Record<ProfileItem, Value>;
const measured = (found: Partial<Record<ProfileItem, boolean>>) => {
  const profile = { measuredAt: new Date(), findings: { ...all(true), ...found }, evidence: all('Tried.') };
  return database.run((db) => addCapabilityProfile(db, { environment: 'sandbox', ...profile }));
};
const AS_CONFIGURED = { resendAllowed: true, maxAttempts: DEFAULT_POLICY.purchase.maxAttempts };
const NO_RESEND = { ...AS_CONFIGURED, resendAllowed: false };

describe('the purchase policy in force', () => {
  it('allows no resend in production until an operator confirms the newest profile', async () => {
    expect(await inForce('production')).toEqual(NO_RESEND);
    const id = await measured({});
    expect(await inForce('production')).toEqual(NO_RESEND);
    await database.run((db) => confirmCapabilityProfile(db, id, { by: 'Ada', at: new Date() }));
    expect(await inForce('production')).toEqual(AS_CONFIGURED);
    await measured({});
    expect(await inForce('production')).toEqual(NO_RESEND);
  });

  it('never resends to a service that does not replay keys', async () => {
    expect(await inForce('sandbox')).toEqual(AS_CONFIGURED);
    await measured({ key_replay: false });
    expect(await inForce('sandbox')).toEqual(NO_RESEND);
  });
});
