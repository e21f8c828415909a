import type { DataUsage } from '#domain/esims/esim-state.ts';
import type { EsimUsage, ServiceEsim } from '#upstream/contract.ts';

/** Facts that the service does not report are null. */
export function esimDetails({
  status,
  installed_at: installed,
  activated_at: activated,
  expires_at: expires,
  iccid,
}: ServiceEsim) {
  const times = { installedAt: timeOf(installed), activatedAt: timeOf(activated), expiresAt: timeOf(expires) };
  return { status, ...times, iccid: iccid == null ? null : iccidOf(iccid) };
}

/** Without separators and filler, so that a search finds it. */
function iccidOf(text: string): string {
  return text
    .replaceAll(/[ -]/g, '')
    .toUpperCase()
    .replace(/F{1,2}$/, '');
}

function timeOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}

export function readUsage(
  { data_used_mb: usedMb, data_total_mb: totalMb, measured_at: measuredAt }: EsimUsage,
  readAt: Date,
): DataUsage & { readonly measuredAt: Date | null; readonly readAt: Date } {
  return { usedMb, totalMb, measuredAt: timeOf(measuredAt), readAt };
}
