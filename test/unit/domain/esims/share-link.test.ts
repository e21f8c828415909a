import { describe, expect, it } from 'vitest';
import { shareLinkStatus, sharedEsimView, type SharedEsimView } from '#domain/esims/share-link.ts';

const NOW = 1_000;
const at = (time: number) => new Date(time);
type Shared = Parameters<typeof sharedEsimView>[0];
const NEW: Shared = { status: 'available', installedAt: null, activatedAt: null, expiresAt: null };

describe('the status of a share link', () => {
  it.each([
    [NOW + 1, null, 'active'],
    [NOW, null, 'expired'],
    [NOW + 1, NOW - 1, 'revoked'],
    [NOW - 1, NOW - 2, 'revoked'],
  ])('with the end %s, revoked at %s, is %s', (end, revoked, status) => {
    const link = { expiresAt: new Date(end), revokedAt: revoked === null ? null : new Date(revoked) };
    expect(shareLinkStatus(link, new Date(NOW))).toBe(status);
  });
});

describe('the page of an eSIM', () => {
  it.each<[Partial<Shared>, SharedEsimView]>([
    [{}, 'ready'],
    [{ status: 'unknown' }, 'ready'],
    [{ expiresAt: at(NOW + 1) }, 'ready'],
    [{ status: 'installed' }, 'installed'],
    [{ installedAt: at(5) }, 'installed'],
    [{ status: 'consumed' }, 'installed'],
    [{ status: 'active', expiresAt: at(NOW) }, 'expired'],
    [{ status: 'expired' }, 'expired'],
    [{ status: 'cancelled', expiresAt: at(NOW - 1) }, 'cancelled'],
  ])('for %j shows: %s', (state, view) => {
    const esim = { ...NEW, ...state };
    expect(sharedEsimView(esim, { isBeingCancelled: false, now: at(NOW) })).toBe(view);
    expect(sharedEsimView(esim, { isBeingCancelled: true, now: at(NOW) })).toBe('cancelled');
  });
});
