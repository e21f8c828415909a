import { deliveredEsimId } from '#crypto/derived-ids.ts';
import { violatedConstraint, type Executor } from '#db/connection/database.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { isEsimOfAnotherOrder } from '#db/esims/esim-queries.ts';
import { esims } from '#db/schema.ts';
import { chargedOf } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import { type AttemptRow, wholeRow, lockUnfinishedWork } from '#db/work/rows.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { NotOurs } from '#fulfilment/attempts/report.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import { NotYetError, notAnswered } from '#fulfilment/purchase/deliver.ts';
import type { LookUpResult, WorkHandler, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { lookUpAndStore } from '#fulfilment/purchase/look-up.ts';
import { completeLocked, type Completion } from '#fulfilment/work/record-step.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServiceEsim, ServiceOrder } from '#upstream/contract.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';

type LookUpOrder = (attempt: AttemptRow) => Promise<LookUpResult<ServiceOrder>>;

export function createEsimDelivery(dependencies: WorkDependencies, lookUp: LookUpOrder): WorkHandler['complete'] {
  const { database, keyRing, service, now } = dependencies;

  return async (known, applied) => {
    const { attempt, lookedUp } = await withEsimId(dependencies, lookUp, known);
    if (lookedUp?.kind === 'not_ours') return { kind: 'unreadable', isOurs: false, detail: lookedUp.detail };
    const { subjectId: orderId } = attempt;
    if (attempt.serviceEsimId === null) {
      if (lookedUp?.kind === 'found' && lookedUp.record.misstated?.includes('esim_id') === true)
        return { kind: 'unreadable', detail: 'The completed order names its eSIM in a form that cannot be read.' };
      throw new NotYetError('not_filled', 'The completed order names no eSIM (yet).');
    }
    const answer = await service.getEsim(attempt.serviceEsimId);
    const doubt = doubtOf(attempt, answer);
    if (doubt !== undefined) {
      const judged = judgeDoubt(
        attempt,
        lookedUp ?? (await lookUpAndStore(dependencies, lookUp, attempt)).lookedUp,
        doubt,
      );
      if (judged !== undefined) return judged;
    }
    if (!answer.ok) {
      if (answer.failure === 'contract_drift') return { kind: 'unreadable', detail: answer.detail };
      throw notAnswered(answer);
    }
    const esim = answer.value;
    const { activation_code: activationCode, misstated = [] } = esim;
    if (misstated.includes('activation_code'))
      return { kind: 'unreadable', detail: 'The eSIM states its activation_code in a form that cannot be used.' };
    if (activationCode == null) throw new NotYetError('not_filled', 'The eSIM has no activation code (yet).');
    const details = esimDetails(esim);
    const { iccid } = details;
    const isOtherwiseNamed = esim.id !== attempt.serviceEsimId;
    if (isOtherwiseNamed && (await database.run((db) => isEsimOfAnotherOrder(db, orderId, { id: esim.id, iccid })))) {
      return {
        kind: 'unreadable',
        detail: `The eSIM ${attempt.serviceEsimId} has the record of an eSIM of another order.`,
      };
    }
    const charged = chargedOf(attempt);
    const ownId = deliveredEsimId(keyRing, orderId);
    const delivered = {
      id: ownId,
      // The id that the service has accepted in a path, not that of the record.
      serviceEsimId: attempt.serviceEsimId,
      ...(isOtherwiseNamed && { namedByRecord: esim.id }),
      encryptedActivationCode: keyRing.encrypt(activationCode, activationCodeAad(ownId)),
      ...details,
    };
    const isStored = await unlessTaken(() =>
      database.transaction(async (tx) => {
        const delivery = { attemptId: attempt.id, charged, applied, esim: delivered };
        await completeOrder(tx, orderId, delivery, new Date(now()));
        await reportCharge(tx, attempt, charged, new Date(now()));
        if (misstated.includes('iccid'))
          await openCase(tx, { kind: 'order', id: orderId }, 'iccid_unreadable', ICCID_UNREADABLE, attempt.id);
      }),
    );
    if (!isStored) {
      return {
        kind: 'unreadable',
        detail: 'The service names an eSIM for this order that already belongs to another order.',
      };
    }
    return { kind: 'completed', esimId: ownId };
  };
}

const ICCID_UNREADABLE = 'The eSIM is delivered. It states its ICCID in a form that cannot be used.';

/** @returns false when the eSIM belongs to another order. */
async function unlessTaken(store: () => Promise<void>): Promise<boolean> {
  try {
    await store();
    return true;
  } catch (error) {
    if (violatedConstraint(error) === 'esims_service_esim_id_unique') return false;
    throw error;
  }
}

interface Doubt {
  readonly about: string;
  /** By the eSIM's own record. False when the eSIM may only not exist yet. */
  readonly isAnothers: boolean;
}

/** An event may have named a wrong eSIM or a wrong order. */
function doubtOf({ serviceId }: AttemptRow, answer: ServiceResult<ServiceEsim>): Doubt | undefined {
  if (!answer.ok)
    return answer.code === 'not_found' ? { about: 'which it does not know', isAnothers: false } : undefined;
  const { order_id: orderId } = answer.value;
  if (orderId == null || serviceId === null || orderId === serviceId) return undefined;
  return { about: `which is of order ${orderId} by its own record`, isAnothers: true };
}

/** @returns undefined when the record of the order agrees or shows nothing: the eSIM may appear later. */
function judgeDoubt(
  { serviceEsimId }: AttemptRow,
  lookedUp: LookUpResult | NotOurs,
  { about, isAnothers }: Doubt,
): CompletionResult | undefined {
  if (lookedUp.kind === 'not_ours') return { kind: 'unreadable', isOurs: false, detail: lookedUp.detail };
  const recorded = lookedUp.kind === 'found' ? lookedUp.facts : undefined;
  const named = `The service called the order completed and named the eSIM ${serviceEsimId}, ${about}`;
  if (recorded?.outcome === 'failed')
    return {
      kind: 'needs_attention',
      reason: 'contradiction',
      detail: `${named}; its record of the order has the status failed.`,
    };
  if (recorded?.serviceEsimId !== undefined && recorded.serviceEsimId !== serviceEsimId) return { kind: 'changed' };
  // Never deliver an eSIM that may belong to another order.
  return isAnothers ? { kind: 'unreadable', detail: `${named}.` } : undefined;
}

/** For an order whose event named no eSIM or no price. */
async function withEsimId(
  dependencies: WorkDependencies,
  lookUp: LookUpOrder,
  known: AttemptRow,
): Promise<{ readonly attempt: AttemptRow; readonly lookedUp?: LookUpResult<ServiceOrder> | NotOurs }> {
  if (known.serviceEsimId !== null && known.chargedAmount !== null) return { attempt: known };
  const { attempt, lookedUp } = await lookUpAndStore(dependencies, lookUp, known);
  // Without the price the eSIM can still be delivered; the books are completed from the wallet.
  if (lookedUp.kind === 'found' || lookedUp.kind === 'not_ours' || attempt.serviceEsimId !== null)
    return { attempt, lookedUp };
  if (lookedUp.kind === 'not_found') {
    throw new NotYetError('not_listed', 'The service does not list the completed order (yet).');
  }
  throw new NotYetError(lookedUp.failure.class, lookedUp.failure.detail);
}

interface DeliveredEsim {
  /** Follows from the order (`deliveredEsimId`). */
  readonly id: string;
  readonly serviceEsimId: string;
  /** Set if it is another one. */
  readonly namedByRecord?: string;
  readonly iccid: string | null;
  readonly encryptedActivationCode: Buffer;
  readonly status: string;
  readonly installedAt: Date | null;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
}

/** Idempotent. @throws WorkFinishedError when the order has another end. */
export async function completeOrder(
  tx: Executor,
  orderId: string,
  { esim, ...completion }: Omit<Completion, 'esimId' | 'entry'> & { readonly esim: DeliveredEsim },
  now: Date,
): Promise<void> {
  const work = { kind: 'order', id: orderId } as const;
  const row = await lockUnfinishedWork(tx, work);
  const { packageId, encryptedCustomerReference, customerReferenceHash } = wholeRow('order', row);
  await tx.insert(esims).values({
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
  await completeLocked(tx, work, row, { ...completion, esimId: esim.id, entry }, now);
}
