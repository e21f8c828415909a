import { deliveredEsimId } from '#crypto/derived-ids.ts';
import { type Executor, violatedConstraint } from '#db/connection/database.ts';
import { deviceImeiAad, activationCodeAad } from '#db/encryption-aads.ts';
import { isEsimOfAnotherOrder } from '#db/esims/esim-queries.ts';
import { esims } from '#db/schema.ts';
import { chargedOf } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import { orderRow, type AttemptRow, type EsimRow, type WorkRow, lockUnfinishedWork } from '#db/work/rows.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { Report } from '#domain/relay/observation.ts';
import { attemptReference } from '#domain/work/identifiers.ts';
import type { NotOurs } from '#fulfilment/attempts/report.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import type { PurchaseDependencies, WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import {
  resultsByReference,
  resultById,
  resultOfList,
  filledResult,
  ownReference,
  purchaseReport,
  sinceFirstSend,
  type Found,
  type LookUpResult,
  notYet,
  notYetShown,
  storeLookUp,
} from '#fulfilment/purchase/listing.ts';
import { notListed, unreadOffer, type Offer } from '#fulfilment/purchase/offer.ts';
import { completeWork, type Completion } from '#fulfilment/work/record-step.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceOrder, ServiceEsim } from '#upstream/contract.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';

export async function prepare({ keyRing }: WorkDependencies, _db: Executor, row: WorkRow, number: number) {
  const { id, packageId, encryptedDeviceImei: encrypted, ...stored } = orderRow(row);
  const reference = attemptReference(stored.externalOrderId, stored.referenceUse, number);
  const deviceImei = encrypted === null ? undefined : keyRing.decryptText(encrypted, deviceImeiAad(id));
  const body = orderRequestBytes({ packageId, reference, ...(deviceImei !== undefined && { deviceImei }) });
  return Promise.resolve({ reference, body });
}

export async function examine(
  { service, prices }: PurchaseDependencies,
  row: WorkRow,
  priceNeeded: boolean,
): Promise<Offer> {
  const { packageId } = orderRow(row);
  if (!priceNeeded) return { price: (await prices.get()).value?.get(packageId) };
  const packages = await service.listPackages();
  if (!packages.ok) return { objection: unreadOffer(packages, 'The price') };
  const offered = packages.value.items.find(({ id }) => id === packageId);
  if (offered === undefined) {
    const detail = 'The service does not list this package.';
    return { objection: notListed(packages.value, 'package_unavailable', detail) };
  }
  return { price: { amount: offered.price_for_reseller, currency: offered.currency } };
}

export async function send(
  { service }: WorkDependencies,
  attempt: AttemptRow,
  row: WorkRow,
  body: Buffer,
  leaseLeftMs: () => number,
): Promise<ServiceResult<Report>> {
  const { idempotencyKey } = attempt;
  const { packageId } = orderRow(row);
  const reference = ownReference(attempt);
  const answer = await service.createOrder({ idempotencyKey, reference, packageId, body, leaseLeftMs });
  return answer.ok ? { ...answer, value: purchaseReport(answer.value, answer.value.status) } : answer;
}

export async function lookUp({ service }: WorkDependencies, attempt: AttemptRow): Promise<LookUpResult<ServiceOrder>> {
  const { serviceId } = attempt;
  const byId = serviceId === null ? undefined : resultById(await service.getOrder(serviceId), found);
  const isFilled = ({ status, esim_id: esimId }: ServiceOrder) => (status === 'completed' ? esimId != null : undefined);
  return filledResult(byId, isFilled, async () =>
    resultOfList(await service.findOrdersByReference(ownReference(attempt)), { found, noun: 'orders' }),
  );
}

export async function lookUpMany(
  { service }: WorkDependencies,
  attempts: readonly AttemptRow[],
  maxPages: number,
): Promise<ReadonlyMap<string, Found> | undefined> {
  const since = Math.min(...attempts.map(sinceFirstSend));
  const list = await service.listRecentOrders({ since, maxPages });
  return resultsByReference(list, attempts, found, ({ id, external_order_id: reference }) => ({ id, reference }));
}

function found(order: ServiceOrder): Found<ServiceOrder> {
  return { kind: 'found', report: purchaseReport(order, order.status), record: order, event: `order.${order.status}` };
}

type LookedUp = LookUpResult<ServiceOrder> | NotOurs;

export async function complete(
  dependencies: WorkDependencies,
  known: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  const { database, keyRing, service, now } = dependencies;
  const lookUpNow = async (attempt: AttemptRow) =>
    storeLookUp(dependencies, attempt, await lookUp(dependencies, attempt));

  // An event may name no eSIM or no price. Without the price the eSIM can still be delivered; the books are completed
  // from the wallet.
  const isWhole = known.serviceEsimId !== null && known.chargedAmount !== null;
  const { attempt, lookedUp }: { attempt: AttemptRow; lookedUp?: LookedUp } = isWhole
    ? { attempt: known }
    : await lookUpNow(known);
  if (lookedUp?.kind === 'not_ours') return unreadable(lookedUp.detail, false);
  const { subjectId: orderId, serviceEsimId } = attempt;
  if (serviceEsimId === null) {
    if (lookedUp?.kind !== 'found')
      return notYetShown(lookedUp, 'The service does not list the completed order (yet).');
    return lookedUp.record.misstated?.includes('esim_id') === true
      ? unreadable('The completed order names its eSIM in a form that cannot be read.')
      : notYet('not_filled', 'The completed order names no eSIM (yet).');
  }

  const answer = await service.getEsim(serviceEsimId);
  const objection = objectionTo(attempt, answer);
  if (objection !== undefined) {
    const judged = judgeOtherEsim(attempt, lookedUp ?? (await lookUpNow(attempt)).lookedUp, objection);
    if (judged !== undefined) return judged;
  }
  if (!answer.ok) {
    if (answer.failure === 'contract_drift') return unreadable(answer.detail);
    return notYet(answer.failure, answer.detail, answer.retryAfterMs);
  }
  const esim = answer.value;
  const { activation_code: activationCode, misstated = [] } = esim;
  if (misstated.includes('activation_code'))
    return unreadable('The eSIM states its activation_code in a form that cannot be used.');
  if (activationCode == null) return notYet('not_filled', 'The eSIM has no activation code (yet).');
  const details = esimDetails(esim);
  const { iccid } = details;
  const isOtherwiseNamed = esim.id !== serviceEsimId;
  if (isOtherwiseNamed && (await database.run((db) => isEsimOfAnotherOrder(db, orderId, { id: esim.id, iccid }))))
    return unreadable(`The eSIM ${serviceEsimId} has the record of an eSIM of another order.`);

  const charged = chargedOf(attempt);
  const ownId = deliveredEsimId(keyRing, orderId);
  const delivered = {
    id: ownId,
    // The id that the service has accepted in a path, not that of the record.
    serviceEsimId,
    ...(isOtherwiseNamed && { namedByRecord: esim.id }),
    encryptedActivationCode: keyRing.encrypt(activationCode, activationCodeAad(ownId)),
    ...details,
  };
  try {
    await database.transaction(async (tx) => {
      const delivery = { attemptId: attempt.id, charged, applied, esim: delivered };
      await storeDelivery(tx, orderId, delivery, new Date(now()));
      await reportCharge(tx, attempt, charged, new Date(now()));
      if (misstated.includes('iccid'))
        await openCase(tx, { kind: 'order', id: orderId }, 'iccid_unreadable', ICCID_UNREADABLE, attempt.id);
    });
  } catch (error) {
    if (violatedConstraint(error) !== 'esims_service_esim_id_unique') throw error;
    return unreadable('The service names an eSIM for this order that already belongs to another order.');
  }
  return { kind: 'completed', esimId: ownId };
}

const ICCID_UNREADABLE = 'The eSIM is delivered. It states its ICCID in a form that cannot be used.';

function unreadable(detail: string, isOurs?: false): CompletionResult {
  return { kind: 'unreadable', detail, ...(isOurs === false && { isOurs }) };
}

interface Objection {
  readonly about: string;
  /** By the eSIM's own record. False when the eSIM may only not exist yet. */
  readonly isAnothers: boolean;
}

/** An event may have named a wrong eSIM or a wrong order. */
function objectionTo({ serviceId }: AttemptRow, answer: ServiceResult<ServiceEsim>): Objection | undefined {
  if (!answer.ok)
    return answer.code === 'not_found' ? { about: 'which it does not know', isAnothers: false } : undefined;
  const { order_id: orderId } = answer.value;
  if (orderId == null || serviceId === null || orderId === serviceId) return undefined;
  return { about: `which is of order ${orderId} by its own record`, isAnothers: true };
}

/** @returns undefined when the record of the order agrees or shows nothing: the eSIM may appear later. */
function judgeOtherEsim(
  { serviceEsimId }: AttemptRow,
  lookedUp: LookedUp,
  { about, isAnothers }: Objection,
): CompletionResult | undefined {
  if (lookedUp.kind === 'not_ours') return unreadable(lookedUp.detail, false);
  const recorded = lookedUp.kind === 'found' ? lookedUp.report : undefined;
  const named = `The service called the order completed and named the eSIM ${serviceEsimId}, ${about}`;
  if (recorded?.outcome === 'failed') {
    const detail = `${named}; its record of the order has the status failed.`;
    return { kind: 'needs_attention', reason: 'contradiction', detail };
  }
  if (recorded?.serviceEsimId !== undefined && recorded.serviceEsimId !== serviceEsimId) return { kind: 'changed' };
  // Never deliver an eSIM that may belong to another order.
  return isAnothers ? unreadable(`${named}.`) : undefined;
}

type DeliveredEsim = Pick<
  EsimRow,
  'id' | 'serviceEsimId' | 'iccid' | 'encryptedActivationCode' | 'status' | 'installedAt' | 'activatedAt' | 'expiresAt'
> & {
  /** Set if it is another one than `serviceEsimId`. */
  readonly namedByRecord?: string;
};

/** @throws WorkFinishedError when the order has ended, also by this delivery. */
export async function storeDelivery(
  tx: Executor,
  orderId: string,
  { esim, ...completion }: Omit<Completion, 'esimId' | 'entry'> & { readonly esim: DeliveredEsim },
  now: Date,
): Promise<void> {
  const work = { kind: 'order', id: orderId } as const;
  const row = await lockUnfinishedWork(tx, work);
  const { packageId, encryptedCustomerReference, customerReferenceHash } = orderRow(row);
  const { namedByRecord, ...stored } = esim;
  await tx
    .insert(esims)
    .values({ ...stored, orderId, packageId, encryptedCustomerReference, customerReferenceHash, readAt: now });
  const otherName = namedByRecord === undefined ? '' : ` Its own record at the service names it ${namedByRecord}.`;
  const entry = {
    message: `The eSIM was delivered and stored.${otherName}`,
    detail: { esim_id: esim.id, service_esim_id: esim.serviceEsimId },
  };
  await completeWork(tx, work, row, { ...completion, esimId: esim.id, entry }, now);
}
