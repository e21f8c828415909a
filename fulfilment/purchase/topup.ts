import type { Executor } from '#db/connection/database.ts';
import { isEsimOfAnotherOrder, lockEsim, lookAgainAt } from '#db/esims/esim-queries.ts';
import { chargedOf, serviceIdsOfOthers, takenServiceIds } from '#db/work/attempts.ts';
import { lockUnfinishedWork, type AttemptRow } from '#db/work/rows.ts';
import { packagesOfTopups, readTopup } from '#db/work/topups.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import type { Found, WorkHandler, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import {
  resultById,
  resultOfList,
  resultsByEsim,
  purchaseReport,
  sinceFirstSend,
} from '#fulfilment/purchase/listing.ts';
import { lookUpAndStore } from '#fulfilment/purchase/look-up.ts';
import { notListed, unreadOffer, refusal } from '#fulfilment/purchase/offer.ts';
import { completeWork } from '#fulfilment/work/record-step.ts';
import { topupRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceTopup } from '#upstream/contract.ts';

/** A top-up has no reference of ours and is looked up by its eSIM: only one of an eSIM may be unsettled (rule 6). */
export function topupHandler(dependencies: WorkDependencies): WorkHandler {
  const { database, service, now } = dependencies;

  const lookUp: WorkHandler['lookUp'] = async (attempt) => {
    const { serviceId } = attempt;
    const byId = serviceId === null ? undefined : resultById(await service.getTopup(serviceId), found);
    if (byId !== undefined) return byId;
    const { topup, esim } = await database.run((db) => readTopup(db, attempt.subjectId));
    const list = await service.findTopupsOfEsim(esim.serviceEsimId);
    if (!list.ok) return resultOfList(list, { found, noun: 'top-ups' });
    const others = await database.run((db) =>
      serviceIdsOfOthers(
        db,
        attempt,
        list.value.items.map(({ id }) => id),
      ),
    );
    const items = list.value.items.filter(
      (item) => !others.has(item.id) && mayBe(attempt, topup.packageId, item) && (serviceId ?? item.id) === item.id,
    );
    return resultOfList({ ...list, value: { ...list.value, items } }, { found, noun: 'top-ups' });
  };

  const lookUpMany: WorkHandler['lookUpMany'] = async (attempts, { maxPages }) => {
    const list = await service.listRecentTopups({ since: Math.min(...attempts.map(sinceFirstSend)), maxPages });
    const listed = list.ok ? list.value.items.map(({ id }) => id) : [];
    const { taken, packages } = await database.run(async (db) => ({
      taken: await takenServiceIds(db, 'topup', listed),
      packages: await packagesOfTopups(
        db,
        attempts.map(({ subjectId }) => subjectId),
      ),
    }));
    return resultsByEsim(list, attempts, {
      found,
      noun: 'top-ups',
      mayBe: (attempt, item) => !taken.has(item.id) && mayBe(attempt, packages.get(attempt.subjectId), item),
    });
  };

  return {
    async prepare(db, { id }) {
      const { topup, esim } = await readTopup(db, id);
      const { serviceEsimId } = esim;
      const body = topupRequestBytes({ esimId: serviceEsimId, packageId: topup.packageId });
      return { reference: undefined, serviceEsimId, body };
    },

    async examine({ id }) {
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
    },

    async send({ idempotencyKey, subjectId }, _row, body, leaseLeftMs) {
      const { topup, esim } = await database.run((db) => readTopup(db, subjectId));
      const { packageId } = topup;
      const answer = await service.createTopup({
        idempotencyKey,
        body,
        esimId: esim.serviceEsimId,
        packageId,
        leaseLeftMs,
      });
      if (!answer.ok) return answer;
      const { esim_id: named = null } = answer.value;
      const isOtherwiseNamed = named !== null && named !== esim.serviceEsimId;
      if (isOtherwiseNamed && (await database.run((db) => isEsimOfAnotherOrder(db, esim.orderId, { id: named })))) {
        return { ...refusal('contract_drift', OTHER_ESIM), status: answer.status };
      }
      return { ...answer, value: purchaseReport(answer.value, answer.value.status) };
    },

    lookUp,
    lookUpMany,

    async complete(known, applied) {
      // Without a price it can still be completed; the books get the price from the wallet.
      const { attempt, lookedUp } =
        known.chargedAmount === null ? await lookUpAndStore(dependencies, lookUp, known) : { attempt: known };
      if (lookedUp?.kind === 'not_ours') return { kind: 'unreadable', isOurs: false, detail: lookedUp.detail };
      const charged = chargedOf(attempt);
      const work = { kind: 'topup', id: attempt.subjectId } as const;
      return database.transaction(async (tx) => {
        const { esim } = await readTopup(tx, work.id);
        const entry = {
          message: 'The eSIM was recharged.',
          detail: { esim_id: esim.id, service_topup_id: attempt.serviceId },
        };
        const completion = { attemptId: attempt.id, esimId: esim.id, charged, entry, applied };
        await completeWork(tx, work, await lockUnfinishedWork(tx, work), completion, new Date(now()));
        await reportCharge(tx, attempt, charged, new Date(now()));
        // A consumed or expired eSIM may be usable again.
        await lookAgainAt(tx, esim.id, new Date(now()));
        return { kind: 'completed', esimId: esim.id };
      });
    },
  };
}

const OTHER_ESIM = 'The service answered with the top-up of another eSIM of ours.';

/** Another package, or a time before the first send, excludes it. */
function mayBe(attempt: AttemptRow, packageId: number | undefined, topup: ServiceTopup): boolean {
  if (topup.package_id != null && topup.package_id !== packageId) return false;
  return topup.created_at == null || Date.parse(topup.created_at) >= sinceFirstSend(attempt);
}

function found(topup: ServiceTopup): Found<ServiceTopup> {
  return { kind: 'found', facts: purchaseReport(topup, topup.status), record: topup, event: `topup.${topup.status}` };
}
