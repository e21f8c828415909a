import { milestonesOf, type EsimState } from '#domain/esims/esim-state.ts';

export const SHARE_LANGUAGES = {
  en: { name: 'English', direction: 'ltr' },
  de: { name: 'Deutsch', direction: 'ltr' },
  fr: { name: 'Français', direction: 'ltr' },
  es: { name: 'Español', direction: 'ltr' },
  pt: { name: 'Português', direction: 'ltr' },
  it: { name: 'Italiano', direction: 'ltr' },
  ar: { name: 'العربية', direction: 'rtl' },
  zh: { name: '中文', direction: 'ltr' },
} as const satisfies Record<string, { readonly name: string; readonly direction: 'ltr' | 'rtl' }>;

export type ShareLanguage = keyof typeof SHARE_LANGUAGES;

export const shareLanguages = Object.keys(SHARE_LANGUAGES) as [ShareLanguage, ...ShareLanguage[]];

export const SHARE_LINK_STATUSES = {
  active: 'It can be opened.',
  expired: 'Its time is over.',
  revoked: 'It was revoked.',
} as const;

export type ShareLinkStatus = keyof typeof SHARE_LINK_STATUSES;

export function shareLinkStatus(
  { revokedAt, expiresAt }: { readonly revokedAt: Date | null; readonly expiresAt: Date },
  now: Date,
): ShareLinkStatus {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

/** `cancelled` and `expired`: the page shows no codes. */
export type SharedEsimView = 'ready' | 'installed' | 'cancelled' | 'expired';

/** @param isBeingCancelled a cancellation was requested: the customer must not install it. */
export function sharedEsimView(
  esim: EsimState,
  { isBeingCancelled, now }: { readonly isBeingCancelled: boolean; readonly now: Date },
): SharedEsimView {
  if (isBeingCancelled || esim.status === 'cancelled') return 'cancelled';
  const reached = milestonesOf({ ...esim, usage: undefined, readAt: now });
  if (reached.includes('expired')) return 'expired';
  return reached.includes('installed') ? 'installed' : 'ready';
}
