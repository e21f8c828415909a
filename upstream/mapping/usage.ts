import type { DataUsage } from '#domain/esims/esim-state.ts';
import type { EsimUsage } from '#upstream/contract.ts';

/** The usage that the service reports. @param readAt time of the request. */
export function readUsage(
  { data_used_mb: usedMb, data_total_mb: totalMb, measured_at: measuredAt }: EsimUsage,
  readAt: Date,
): DataUsage & { readonly measuredAt: Date | null; readonly readAt: Date } {
  return { usedMb, totalMb, measuredAt: measuredAt == null ? null : new Date(measuredAt), readAt };
}
