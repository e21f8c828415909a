import type { WorkRef } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import { readOrder } from '#db/orders.ts';

/** What is shown of work in the Temporal UI from its start on; nothing personal. */
export interface StartFacts extends WorkRef {
  /** The caller's own reference. */
  readonly externalReference: string;
  readonly packageId: number;
}

/** @throws WorkMissingError */
export async function readStartFacts(db: Executor, { kind, id }: WorkRef): Promise<StartFacts> {
  switch (kind) {
    case 'order': {
      const { externalOrderId, packageId } = await readOrder(db, id);
      return { kind, id, packageId, externalReference: externalOrderId };
    }
  }
}
