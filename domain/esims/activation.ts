/** What a phone needs to install an eSIM (GSMA SGP.22, section 4.1: the activation code format). */
export interface Activation {
  readonly smdpAddress: string;
  readonly matchingId: string;
  readonly confirmationCodeRequired: boolean;
  readonly furtherFields?: string;
}

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;
const PORT = /:[0-9]{1,5}$/;
const MATCHING_ID = /^[0-9A-Z-]{0,255}$/i;
const FIELD = /^[!-~]{0,255}$/;
/** More than any version of the format has. */
const MAX_FURTHER = 6;

/** The LPA string that goes into a QR code: `LPA:1$<SM-DP+ address>$<matching id>`. */
export function lpaString({ smdpAddress, matchingId, confirmationCodeRequired, furtherFields }: Activation): string {
  const base = `LPA:1$${smdpAddress}$${matchingId}`;
  if (furtherFields !== undefined) return `${base}$${furtherFields}`;
  return confirmationCodeRequired ? `${base}$$1` : base;
}

/** Further fields of later versions of SGP.22 are kept. @returns undefined when it is no code of format 1. */
export function parseLpaString(text: string): Activation | undefined {
  const [format, host, matchingId, ...further] = text.trim().replace(/^LPA:/i, '').split('$');
  if (format !== '1' || host === undefined || matchingId === undefined || further.length > MAX_FURTHER)
    return undefined;
  const smdpAddress = host.replace(/\.$/, '');
  if (
    !HOST.test(smdpAddress.replace(PORT, '')) ||
    !MATCHING_ID.test(matchingId) ||
    !further.every((field) => FIELD.test(field))
  )
    return undefined;
  const [objectId = '', confirmation, ...later] = further;
  const hasMore = objectId !== '' || later.some((field) => field !== '');
  return {
    smdpAddress,
    matchingId,
    confirmationCodeRequired: confirmation === '1',
    ...(hasMore && { furtherFields: further.join('$') }),
  };
}

/** Each link opens the system's own eSIM dialogue with the code filled in. */
export function installLinks(activation: Activation): { ios: string; android: string } {
  const code = encodeURIComponent(lpaString(activation));
  return {
    ios: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${code}`,
    android: `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${code}`,
  };
}
