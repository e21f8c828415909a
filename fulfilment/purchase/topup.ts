import type { Executor } from '#db/connection/database.ts';
import { isEsimOfAnotherOrder, lockEsim, lookAgainAt } from '#db/esims/esim-queries.ts';
import { chargedOf, takenServiceIds } from '#db/work/attempts.ts';
import { lockUnfinishedWork, type AttemptRow, type WorkRow } from '#db/work/rows.ts';
import { readTopup } from '#db/work/topups.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { Report } from '#domain/relay/observation.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import {
  resultById,
  resultOfList,
  purchaseReport,
  sinceFirstSend,
  storeLookUp,
  type Found,
  type LookUpResult,
} from '#fulfilment/purchase/listing.ts';
import { notListed, unreadOffer, refusal, type Offer } from '#fulfilment/purchase/offer.ts';
import { completeWork } from '#fulfilment/work/record-step.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { topupRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceTopup } from '#upstream/contract.ts';

export async function prepare(_dependencies: WorkDependencies, db: Executor, { id }: WorkRow) {
  const { topup, esim } = await readTopup(db, id);
  const { serviceEsimId } = esim;
  const body = topupRequestBytes({ esimId: serviceEsimId, packageId: topup.packageId });
  return { reference: undefined, serviceEsimId, body };
}

export async function examine({ database, service }: WorkDependencies, { id }: WorkRow): Promise<Offer> {
  const { topup, esim } = await database.run((db) => readTopup(db, id));
  const cancelled = refusal('topup_not_offered', 'The eSIM is cancelled.');
  if (esim.status === 'cancelled') return { objection: cancelled };
  const options = await service.listTopupOptions(esim.serviceEsimId);
  if (!options.ok) return { objection: unreadOffer(options, 'The options') };
  const option = options.value.items.find((each) => each.id === topup.packageId);
  if (option === undefined) {
    const detail = 'The service does not offer this package for the eSIM.';
    return { objection: notListed(options.value, 'topup_not_offered', detail) };
  }
  const price = { amount: option.price_for_reseller, currency: option.currency };
  const recheck = async (tx: Executor) =>
    (await lockEsim(tx, esim.id)).status === 'cancelled' ? cancelled : undefined;
  return { price, recheck };
}

export async function send(
  { database, service }: WorkDependencies,
  { idempotencyKey, subjectId }: AttemptRow,
  _row: WorkRow,
  body: Buffer,
  leaseLeftMs: () => number,
): Promise<ServiceResult<Report>> {
  const { topup, esim } = await database.run((db) => readTopup(db, subjectId));
  const { packageId } = topup;
  const esimId = esim.serviceEsimId;
  const answer = await service.createTopup({ idempotencyKey, body, esimId, packageId, leaseLeftMs });
  if (!answer.ok) return answer;
  const { esim_id: named = null } = answer.value;
  const isOtherwiseNamed = named !== null && named !== esimId;
  if (isOtherwiseNamed && (await database.run((db) => isEsimOfAnotherOrder(db, esim.orderId, { id: named })))) {
    const detail = 'The service answered with the top-up of another eSIM of ours.';
    return { ...refusal('contract_drift', detail), status: answer.status };
  }
  return { ...answer, value: purchaseReport(answer.value, answer.value.status) };
}

/**
 * A top-up has no reference of ours and is looked up by its eSIM: only one of an eSIM may be unsettled (rule 6 of
 * docs/reference/rules.md).
 */
export async function lookUp(
  { database, service }: WorkDependencies,
  attempt: AttemptRow,
): Promise<LookUpResult<ServiceTopup>> {
  const { id: attemptId, serviceId } = attempt;
  const byId = serviceId === null ? undefined : resultById(await service.getTopup(serviceId), found);
  if (byId !== undefined) return byId;
  const { topup, esim } = await database.run((db) => readTopup(db, attempt.subjectId));
  const list = await service.findTopupsOfEsim(esim.serviceEsimId);
  if (!list.ok) return resultOfList(list, { found, noun: 'top-ups' });
  const listed = list.value.items.map(({ id }) => id);
  const others = await database.run((db) => takenServiceIds(db, 'topup', listed, attemptId));
  const items = list.value.items.filter(
    (item) => !others.has(item.id) && mayBe(attempt, topup.packageId, item) && (serviceId ?? item.id) === item.id,
  );
  return resultOfList({ ...list, value: { ...list.value, items } }, { found, noun: 'top-ups' });
}

export async function complete(
  dependencies: WorkDependencies,
  known: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  // Without a price it can still be completed; the books get the price from the wallet.
  const { attempt, lookedUp } =
    known.chargedAmount === null
      ? await storeLookUp(dependencies, known, await lookUp(dependencies, known))
      : { attempt: known };
  if (lookedUp?.kind === 'not_ours') return { kind: 'unreadable', isOurs: false, detail: lookedUp.detail };
  const charged = chargedOf(attempt);
  const work = { kind: 'topup', id: attempt.subjectId } as const;
  const now = new Date(dependencies.now());
  return dependencies.database.transaction(async (tx) => {
    const { esim } = await readTopup(tx, work.id);
    const entry = {
      message: 'The eSIM was recharged.',
      detail: { esim_id: esim.id, service_topup_id: attempt.serviceId },
    };
    const completion = { attemptId: attempt.id, esimId: esim.id, charged, entry, applied };
    await completeWork(tx, work, await lockUnfinishedWork(tx, work), completion, now);
    await reportCharge(tx, attempt, charged, now);
    // A consumed or expired eSIM may be usable again.
    await lookAgainAt(tx, esim.id, now);
    return { kind: 'completed', esimId: esim.id };
  });
}

/** Another package, or a time before the first send, excludes it. */
function mayBe(attempt: AttemptRow, packageId: number | undefined, topup: ServiceTopup): boolean {
  if (topup.package_id != null && topup.package_id !== packageId) return false;
  return topup.created_at == null || Date.parse(topup.created_at) >= sinceFirstSend(attempt);
}

function found(topup: ServiceTopup): Found<ServiceTopup> {
  return { kind: 'found', report: purchaseReport(topup, topup.status), record: topup, event: `topup.${topup.status}` };
}
