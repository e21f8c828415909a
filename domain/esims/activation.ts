/** What a phone needs to install an eSIM (GSMA SGP.22, section 4.1: the activation code format). */
export interface Activation {
  readonly smdpAddress: string;
  readonly matchingId: string;
  /** True when the user must type a confirmation code as well. */
  readonly confirmationCodeRequired: boolean;
}

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;
const MATCHING_ID = /^[0-9A-Z-]{0,255}$/i;

/** The LPA string that goes into a QR code: `LPA:1$<SM-DP+ address>$<matching id>`. */
export function lpaString(activation: Activation): string {
  const base = `LPA:1$${activation.smdpAddress}$${activation.matchingId}`;
  return activation.confirmationCodeRequired ? `${base}$$1` : base;
}

/**
 * Reads an LPA string, with or without its `LPA:` prefix.
 *
 * @returns undefined when it is not an activation code of format 1.
 */
export function parseLpaString(text: string): Activation | undefined {
  const parts = text.trim().replace(/^LPA:/i, '').split('$');
  const [format, smdpAddress, matchingId, , confirmation] = parts;
  if (format !== '1' || parts.length > 5 || smdpAddress === undefined || matchingId === undefined) return undefined;
  if (!HOST.test(smdpAddress) || !MATCHING_ID.test(matchingId)) return undefined;
  return { smdpAddress, matchingId, confirmationCodeRequired: confirmation === '1' };
}

/** One-tap installation links; each opens the system's own eSIM dialogue with the code filled in. */
export function installLinks(activation: Activation): { ios: string; android: string } {
  const code = encodeURIComponent(lpaString(activation));
  return {
    ios: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${code}`,
    android: `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${code}`,
  };
}
