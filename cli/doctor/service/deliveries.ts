import { failure, notChecked, ok, warning, type Finding } from '#cli/doctor/finding.ts';
import type { Records } from '#cli/doctor/installation/records.ts';

/**
 * Checks whether purchases are stopped because paid deliveries could not be used.
 *
 * @param records undefined when the database cannot be read.
 */
export function checkDeliveries(records: Pick<Records, 'driftStops'> | undefined): Finding {
  if (records === undefined) return notChecked('the records of it cannot be read');
  const { driftStops } = records;
  if (driftStops.length === 0) return ok('no purchase is stopped for its delivery');
  const detail = driftStops.map(({ text }) => text).join(' ');
  return driftStops.some(({ isDrift }) => isDrift)
    ? failure(detail, 'Compare the interface of the service with the contract: see DriftStop in docs/runbook.md.')
    : warning(detail, 'Only a document has shown the answers of the service. No action: the first delivery decides.');
}
