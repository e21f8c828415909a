import type { Database } from '#db/connection/database.ts';
import { requestStart, requestWake } from '#db/queues/outbox.ts';
import { markSwept, readUnfinished, type UnfinishedWork } from '#db/queues/sweep.ts';
import type { SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import { sweepDecision, type SweepDecision } from '#domain/relay/sweep-decision.ts';
import { WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import type { Logger } from '#telemetry/logger.ts';

export interface SweepCursor {
  readonly kind: WorkKind;
  /** The last row of the page; `updatedAt` in epoch milliseconds. */
  readonly after: { readonly updatedAt: number; readonly id: string } | undefined;
}

export interface SweepTools {
  readonly database: Database;
  readonly sweep: SweepPolicy;
  readonly logger: Logger;
  /** One call. @throws when Temporal does not answer. */
  readonly findRunning: (work: readonly WorkRef[]) => Promise<ReadonlySet<string>>;
  readonly now: () => number;
}

/** Without `next`, the next sweep begins again. */
interface Swept {
  readonly requested: number;
  readonly woken: number;
  readonly next?: SweepCursor;
}

/** A start of running work has no effect, so an outdated answer of Temporal does no harm. */
export async function sweepWork(tools: SweepTools, from: SweepCursor | undefined): Promise<Swept> {
  const { database, sweep, now } = tools;
  const until = now() + sweep.sweepingMs;
  const first = from === undefined ? 0 : WORK_KINDS.indexOf(from.kind);
  let after = from?.after;
  let requested = 0;
  let woken = 0;
  let isBlind = false;
  for (const kind of WORK_KINDS.slice(first)) {
    for (;;) {
      const idleBefore = new Date(now() - sweep.idleAfterMs);
      const page = { kind, after, idleBefore, rows: sweep.pageRows };
      const work = await database.run((db) => readUnfinished(db, page));
      // Once Temporal has not answered, the page is started as a whole, which does not affect running work.
      const running: ReadonlySet<string> | undefined = isBlind ? undefined : await runningOf(tools, kind, work);
      isBlind = running === undefined;
      const decisions = work.map((each) => ({
        id: each.id,
        decision: sweepDecision({ ...each, isRunning: running?.has(each.id) ?? false }, sweep, now()),
      }));
      const starts = decisions.filter(({ decision }) => decision.kind === 'start');
      const wakes = decisions.filter(({ decision }) => decision.kind === 'wake');
      await request(tools, kind, starts, wakes);
      requested += starts.length;
      woken += wakes.length;
      const last = work.length < sweep.pageRows ? undefined : work.at(-1);
      after = last && { updatedAt: last.updatedAt, id: last.id };
      if (after !== undefined && (isBlind || now() >= until)) return { requested, woken, next: { kind, after } };
      if (after === undefined) break;
    }
  }
  return { requested, woken };
}

/** @returns undefined when Temporal did not answer. */
async function runningOf(
  { sweep, findRunning, logger }: SweepTools,
  kind: WorkKind,
  work: readonly UnfinishedWork[],
): Promise<ReadonlySet<string> | undefined> {
  const running = new Set<string>();
  try {
    for (let start = 0; start < work.length; start += sweep.listIds) {
      const some = work.slice(start, start + sweep.listIds).map(({ id }) => ({ kind, id }));
      for (const id of await findRunning(some)) running.add(id);
    }
    return running;
  } catch (error) {
    logger.warn(
      { err: error, kind },
      'Temporal did not list the running workflows; the sweep requests one page of starts and continues later',
    );
    return undefined;
  }
}

interface Decided {
  readonly id: string;
  readonly decision: SweepDecision;
}

async function request(
  { database, logger, now }: SweepTools,
  kind: WorkKind,
  starts: readonly Decided[],
  wakes: readonly Decided[],
): Promise<void> {
  const ids = [...starts, ...wakes].map(({ id }) => id);
  if (ids.length === 0) return;
  await database.transaction(async (tx) => {
    // Lock the work first, as everywhere: another holder of the lock may be about to write its outbox row.
    await markSwept(tx, kind, ids, new Date(now()));
    for (const { id } of starts) await requestStart(tx, { kind, id });
    for (const { id } of wakes) await requestWake(tx, { kind, id });
  });
  for (const { id, decision } of wakes) {
    logger.info({ workId: id, ...decision }, 'a workflow is woken because its row shows that it should have continued');
  }
}
