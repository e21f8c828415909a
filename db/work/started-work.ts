import type { StoredStart } from '#db/work/kinds.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** The values that the Temporal UI shows from the start of a workflow; no personal data. */
export interface StartedWork extends WorkRef {
  /** The caller's reference; our id when there is none. */
  readonly externalReference: string;
  /** Set for eSIM packages; VPN plans use the other field. */
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** `traceparent` of the request that created it; absent: it was not traced. */
  readonly traceparent?: string;
}

/** @param stored what its row has, as `startOf` reads it. @throws WorkMissingError without a row. */
export function startedWork({ kind, id }: WorkRef, stored: StoredStart | null): StartedWork {
  const work = { kind, id };
  if (stored === null) throw new WorkMissingError(work);
  return { ...work, ...stored, externalReference: stored.externalReference ?? work.id };
}
