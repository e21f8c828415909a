import type { Database } from '#db/connection/database.ts';
import { requestStart, requestWake } from '#db/queues/outbox.ts';
import { markSwept, readUnfinished, type UnfinishedWork } from '#db/queues/sweep.ts';
import type { SweepPolicy } from '#domain/policy/sweep-policy.ts';
import { sweepDecision, type SweepDecision } from '#domain/relay/sweep-decision.ts';
import { WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import type { Logger } from '#telemetry/logger.ts';

/** Where a sweep stopped. */
export interface SweepCursor {
  readonly kind: WorkKind;
  /** The last row of the page: time of its last change in epoch milliseconds, and its id. */
  readonly after: { readonly updatedAt: number; readonly id: string } | undefined;
}

/** Dependencies of the sweep. */
export interface SweepTools {
  readonly database: Database;
  readonly sweep: SweepPolicy;
  readonly logger: Logger;
  /** Ids of these pieces of work whose workflow runs, from one call. @throws when Temporal does not answer. */
  readonly findRunning: (work: readonly WorkRef[]) => Promise<ReadonlySet<string>>;
  readonly now: () => number;
}

/** Counts of a sweep, and where the next one continues; without `next`: from the beginning. */
export interface Swept {
  readonly requested: number;
  readonly woken: number;
  readonly next?: SweepCursor;
}

/**
 * Goes through unfinished work page by page until its time is over. Work without a running workflow is started; running
 * work that should have continued is woken. Starting running work has no effect, so an outdated answer of Temporal does
 * no harm.
 */
export async function sweepWork(tools: SweepTools, from: SweepCursor | undefined): Promise<Swept> {
  const { sweep, now } = tools;
  const until = now() + sweep.sweepingMs;
  const first = from === undefined ? 0 : WORK_KINDS.indexOf(from.kind);
  let after = from?.after;
  let requested = 0;
  let woken = 0;
  let isBlind = false;
  for (const kind of WORK_KINDS.slice(first)) {
    for (;;) {
      const page = await sweepPage(tools, kind, after, isBlind);
      requested += page.requested;
      woken += page.woken;
      after = page.after;
      isBlind = page.isBlind;
      if (after === undefined) break;
      if (isBlind || now() >= until) return { requested, woken, next: { kind, after } };
    }
  }
  return { requested, woken };
}

interface Page extends Omit<Swept, 'next'> {
  /** Undefined after the last page of the kind. */
  readonly after: SweepCursor['after'];
  /** True when Temporal did not answer. */
  readonly isBlind: boolean;
}

/** @param isBlind true when Temporal did not answer before: it is not called again in this sweep. */
async function sweepPage(
  tools: SweepTools,
  kind: WorkKind,
  after: SweepCursor['after'],
  isBlind: boolean,
): Promise<Page> {
  const { database, sweep, now } = tools;
  const idleBefore = new Date(now() - sweep.idleAfterMs);
  const work = await database.run((db) => readUnfinished(db, { kind, after, idleBefore, rows: sweep.pageRows }));
  const running = isBlind ? undefined : await runningOf(tools, kind, work);
  const decisions = work.map((each) => ({
    id: each.id,
    decision: sweepDecision({ ...each, isRunning: running?.has(each.id) ?? false }, sweep, now()),
  }));
  const last = work.at(-1);
  const isLast = last === undefined || work.length < sweep.pageRows;
  return {
    ...(await request(tools, kind, decisions)),
    after: isLast ? undefined : { updatedAt: last.updatedAt, id: last.id },
    isBlind: running === undefined,
  };
}

/**
 * @returns undefined when Temporal did not answer: the whole page is then started, which does not affect running work.
 */
async function runningOf(
  tools: SweepTools,
  kind: WorkKind,
  work: readonly UnfinishedWork[],
): Promise<ReadonlySet<string> | undefined> {
  const { sweep, findRunning, logger } = tools;
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

async function request(
  { database, logger, now }: SweepTools,
  kind: WorkKind,
  decisions: readonly { readonly id: string; readonly decision: SweepDecision }[],
): Promise<Pick<Swept, 'requested' | 'woken'>> {
  const starts = decisions.filter(({ decision }) => decision.kind === 'start');
  const wakes = decisions.filter(({ decision }) => decision.kind === 'wake');
  if (starts.length + wakes.length === 0) return { requested: 0, woken: 0 };
  await database.transaction(async (tx) => {
    // Lock the work first, as everywhere: another holder of the lock may be about to write its outbox row.
    await markSwept(
      tx,
      kind,
      [...starts, ...wakes].map(({ id }) => id),
      new Date(now()),
    );
    for (const { id } of starts) await requestStart(tx, { kind, id });
    for (const { id } of wakes) await requestWake(tx, { kind, id });
  });
  for (const { id, decision } of wakes) {
    logger.info({ workId: id, ...decision }, 'a workflow is woken because its row shows that it should have continued');
  }
  return { requested: starts.length, woken: wakes.length };
}
