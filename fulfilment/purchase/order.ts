import type { Executor } from '#db/connection/database.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { orderRow, type AttemptRow, type WorkRow } from '#db/work/rows.ts';
import type { Report } from '#domain/relay/observation.ts';
import { attemptReference } from '#domain/work/identifiers.ts';
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
} from '#fulfilment/purchase/listing.ts';
import { notListed, unreadOffer, type Offer } from '#fulfilment/purchase/offer.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceOrder } from '#upstream/contract.ts';

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
