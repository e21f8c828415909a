import type { Executor } from '#db/connection/database.ts';
import { esims } from '#db/schema.ts';
import { wholeRow } from '#db/work/kinds.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import { completeLocked, type Completion } from '#fulfilment/work/complete-work.ts';

/** The eSIM that a completed order delivered. */
export interface DeliveredEsim {
  /** Our id; follows from the order (`deliveredEsimId`). */
  readonly id: string;
  readonly serviceEsimId: string;
  /** The id in its own record, if that is another one. */
  readonly namedByRecord?: string;
  readonly iccid: string | null;
  /** Encrypted with the AAD of this eSIM's row. */
  readonly encryptedActivationCode: Buffer;
  readonly status: string;
  readonly installedAt: Date | null;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
}

/**
 * Completes an order with its eSIM. Idempotent.
 * @throws WorkFinishedError when it has another end.
 */
export async function completeOrder(
  tx: Executor,
  orderId: string,
  { esim, ...completion }: Omit<Completion, 'esimId' | 'entry'> & { readonly esim: DeliveredEsim },
  now: Date,
): Promise<void> {
  const work = { kind: 'order', id: orderId } as const;
  const row = await lockUnfinishedWork(tx, work);
  const { packageId, encryptedCustomerReference, customerReferenceHash } = wholeRow('order', row);
  const delivery = tx.insert(esims).values({
    id: esim.id,
    orderId,
    serviceEsimId: esim.serviceEsimId,
    iccid: esim.iccid,
    packageId,
    encryptedActivationCode: esim.encryptedActivationCode,
    encryptedCustomerReference,
    customerReferenceHash,
    status: esim.status,
    installedAt: esim.installedAt,
    activatedAt: esim.activatedAt,
    expiresAt: esim.expiresAt,
    readAt: now,
  });
  const { namedByRecord } = esim;
  const otherName = namedByRecord === undefined ? '' : ` Its own record at the service names it ${namedByRecord}.`;
  const entry = {
    message: `The eSIM was delivered and stored.${otherName}`,
    detail: { esim_id: esim.id, service_esim_id: esim.serviceEsimId },
  };
  await completeLocked(tx, work, row, { ...completion, esimId: esim.id, entry }, now, [{ statement: delivery }]);
}
