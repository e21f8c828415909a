import { cancellationCompletion } from '#activities/purchases/cancellation-completion.ts';
import { cancellationLookUp, esimOf, reportOfAnswer } from '#activities/purchases/cancellation-look-up.ts';
import { refusal } from '#activities/purchases/price.ts';
import type { WorkHandler } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { Executor } from '#db/connection/database.ts';
import { lockEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import { findRefund, readCancellation, storePreflight } from '#db/work/cancellation-queries.ts';
import { type RefundEvidence, forecastRefund, judgeRefundConditions } from '#domain/cancellation/refund-conditions.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails } from '#upstream/mapping/esims.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';

/**
 * Cancellations: reads the conditions of the refund, then sends `POST /esims/{id}/cancel`. They work like a purchase
 * without a price: one key, a lease, a look-up after a lost answer. Their result is the refund.
 */
export function cancellationHandler(dependencies: WorkDependencies): WorkHandler {
  const { database, service, now } = dependencies;

  const { lookUp, lookUpMany } = cancellationLookUp(dependencies);

  return {
    async prepare(db, { id }) {
      const { esim } = await readCancellation(db, id);
      // The specification shows no body for this request.
      return { reference: undefined, serviceEsimId: esim.serviceEsimId, body: Buffer.alloc(0) };
    },

    async examine({ id }) {
      const { cancellation, esim } = await database.run((db) => readCancellation(db, id));
      const own = await database.run((db) => readRefundContext(db, esim));
      const { facts, esim: read, readAt } = await readRefundEvidence(service, own, now);
      const conditions = judgeRefundConditions(facts);
      await database.transaction(async (tx) => {
        await storePreflight(tx, id, conditions);
        if (read !== undefined) await recordEsim(tx, esim, { state: esimDetails(read), readAt }, new Date(now()));
      });
      if (cancellation.onUnmetConditions !== 'refuse') return {};
      const forecast = forecastRefund(conditions);
      if (forecast === 'refund_expected') {
        const recheck = async (tx: Executor) => {
          const { completedTopups } = await readRefundContext(tx, await lockEsim(tx, esim.id));
          return completedTopups === own.completedTopups
            ? undefined
            : refusal('not_sent', 'The eSIM was recharged meanwhile; the refund conditions are checked again.');
        };
        return { recheck };
      }
      const open = conditions.filter(({ result }) => result === (forecast === 'unknown' ? 'unknown' : 'fail'));
      const reason = open.map(({ name, evidence }) => `${name}: ${evidence}`).join(' ');
      if (forecast === 'no_refund_expected') return { objection: refusal('refund_not_expected', reason) };
      return { objection: refusal(mayBeReadLater(facts) ? 'not_sent' : 'refund_uncertain', reason) };
    },

    async send(attempt, _row, _body, leaseLeftMs) {
      const { idempotencyKey } = attempt;
      const answer = await service.cancelEsim({ idempotencyKey, esimId: esimOf(attempt), leaseLeftMs });
      return answer.ok ? { ...answer, value: reportOfAnswer(answer.value) } : answer;
    },

    lookUp,
    lookUpMany,

    complete: cancellationCompletion(dependencies, lookUp),

    async cancellation(db, id) {
      const { cancellation } = await readCancellation(db, id);
      const refund = await findRefund(db, id);
      return {
        acceptWithoutRefund: cancellation.onUnmetConditions === 'cancel_without_refund',
        refundFailed: refund?.serviceState === 'failed',
        refundOpen: refund?.serviceState === 'processing',
        refundPaid: refund?.status === 'completed',
        ...(cancellation.cancelledAt !== null && { cancelledAt: cancellation.cancelledAt.getTime() }),
      };
    },
  };
}

/** True when an unknown condition may be known after a later read. */
function mayBeReadLater(facts: RefundEvidence): boolean {
  const { usage, installation, topups, debit } = facts;
  return [usage, installation, topups, debit].some((reading) => !reading.ok && reading.mayPass);
}
