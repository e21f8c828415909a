import type { DataReading } from '#domain/esims/thresholds.ts';
import type { EsimUsage } from '#upstream/contract.ts';

/** Usage as the service says it, with the moment of the question. */
export function usageReading(
  { data_used_mb: usedMb, data_total_mb: totalMb, measured_at: measuredAt }: EsimUsage,
  readAt: Date,
): DataReading & { readonly measuredAt: Date | null; readonly readAt: Date } {
  return { usedMb, totalMb, measuredAt: measuredAt == null ? null : new Date(measuredAt), readAt };
}
