import { esimsToLookAt, lookAgainAt, storedUsage } from '#db/esims/esim-queries.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { isEsimInUse } from '#domain/esims/esim-state.ts';
import { MINUTE } from '#domain/policy/settings.ts';
import type { WatchPolicy } from '#domain/policy/upkeep-policy.ts';
import { failsEveryCall } from '#domain/work/failure.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import {
  type AnnouncePage,
  type ExpiryCursor,
  announceExpiringEsims,
  announceExpiringSubscriptions,
  announceLowData,
  nextLook,
} from '#fulfilment/upkeep/esim-watch.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { esimDetails, readUsage } from '#upstream/mapping/esims.ts';

type WatchDependencies = Pick<WorkDependencies, 'database' | 'service' | 'now'> & { readonly watch: WatchPolicy };

/** Below the timeout of the activity (4 minutes), one eSIM included; the next run continues. */
const READS_MS = 3 * MINUTE;

export function createWatchActivities({ database, service, watch, now }: WatchDependencies) {
  const announceAll = async (announcePage: AnnouncePage): Promise<number> => {
    let total = 0;
    let after: ExpiryCursor | undefined;
    do {
      const from = after;
      const page = await database.transaction((tx) => announcePage(tx, watch, new Date(now()), from));
      total += page.announced;
      after = page.next;
    } while (after !== undefined);
    return total;
  };

  /** `isSilent`: the service would not answer about other eSIMs either. */
  const lookAt = async (esim: EsimRow): Promise<{ readonly calls: number; readonly isSilent: boolean }> => {
    const readAt = new Date(now());
    // Its delivery has read it, and nothing has asked for another read since.
    const isFirst = esim.iccid !== null && esim.watchDueAt !== null && esim.watchDueAt <= esim.createdAt;
    const freshUntil = esim.createdAt.getTime() + watch.againAfterMs;
    if (esim.status === 'cancelled' || (isFirst && freshUntil > readAt.getTime())) {
      await database.run((db) => lookAgainAt(db, esim.id, esim.status === 'cancelled' ? null : new Date(freshUntil)));
      return { calls: 0, isSilent: false };
    }
    const answer = await service.getEsim(esim.serviceEsimId);
    if (!answer.ok) {
      await database.run((db) => lookAgainAt(db, esim.id, nextLook(esim, watch, readAt)));
      return { calls: 1, isSilent: failsEveryCall(answer.failure) };
    }
    const facts = esimDetails(answer.value);
    const known = await database.run((db) => storedUsage(db, esim.id));
    // Unlimited data never runs out, and no top-up changes that.
    const isRead = isEsimInUse(facts) && known?.unlimited !== true;
    const usage = isRead ? await service.getEsimUsage(esim.serviceEsimId) : undefined;
    await database.transaction(async (tx) => {
      const reading = usage?.ok === true ? readUsage(usage.value, readAt) : undefined;
      await recordEsim(tx, esim, { state: facts, usage: reading, readAt }, new Date(now()));
      await lookAgainAt(tx, esim.id, nextLook(facts, watch, readAt));
      if (reading !== undefined) await announceLowData(tx, esim, reading, watch, new Date(now()));
    });
    return {
      calls: usage === undefined ? 1 : 2,
      isSilent: usage?.ok === false && usage.kind === 'failure' && failsEveryCall(usage.failure),
    };
  };

  return {
    async announceExpiring(): Promise<{ announced: number }> {
      if (watch.expiringMs.length === 0) return { announced: 0 };
      return {
        announced: (await announceAll(announceExpiringEsims)) + (await announceAll(announceExpiringSubscriptions)),
      };
    },

    async readUsage(): Promise<{ looked: number }> {
      if (watch.readsPerRun === 0) return { looked: 0 };
      const due = await database.run((db) => esimsToLookAt(db, new Date(now()), watch.readsPerRun));
      const until = now() + READS_MS;
      let looked = 0;
      let calls = 0;
      for (const esim of due) {
        if (calls >= watch.readsPerRun || now() >= until) break;
        const look = await lookAt(esim);
        looked += 1;
        calls += look.calls;
        if (look.isSilent) break;
      }
      return { looked };
    },
  };
}
