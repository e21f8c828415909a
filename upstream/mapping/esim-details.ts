import type { ServiceEsim } from '#upstream/contract.ts';

/** The changing properties of an eSIM. Times that the service does not report are null. */
export function esimDetails({
  status,
  installed_at: installed,
  activated_at: activated,
  expires_at: expires,
}: ServiceEsim) {
  return { status, installedAt: timeOf(installed), activatedAt: timeOf(activated), expiresAt: timeOf(expires) };
}

/** An ICCID without separators and filler, so that a search finds it. */
export function iccidOf(text: string): string {
  return text
    .replaceAll(/[ -]/g, '')
    .toUpperCase()
    .replace(/F{1,2}$/, '');
}

function timeOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}
