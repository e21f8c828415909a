import type { Executor } from '#db/connection/database.ts';
import { storedKind } from '#db/work/kinds.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** What is shown of work in the Temporal UI from its start on; nothing personal. */
export interface StartedWork extends WorkRef {
  /** The caller's own reference; our id where there is none. */
  readonly externalReference: string;
  /** Of an eSIM package; a VPN plan is named by the other. */
  readonly packageId?: number;
  readonly vpnPlanId?: number;
}

/** @throws WorkMissingError */
export async function readStartedWork(db: Executor, work: WorkRef): Promise<StartedWork> {
  const [stored] = await storedKind(work.kind).start(db, work.id);
  if (stored === undefined) throw new WorkMissingError(work);
  return { ...work, ...stored, externalReference: stored.externalReference ?? work.id };
}
