import { sql, type SQL } from 'drizzle-orm';
import * as z from 'zod';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { PRODUCT_COLUMNS, workTable } from '#db/work/rows.ts';
import { ATTEMPT_STATES, judgeObservation, OBSERVED_OUTCOMES, type PurchaseEvent } from '#domain/relay/observation.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { WORK_STATUSES } from '#domain/work/lifecycle.ts';

export interface ReadRow {
  readonly row: InboxRow;
  readonly event: PurchaseEvent;
}

/**
 * By the tables of the domain. They hold for each attempt, and only for reports without an end, cancellation or
 * refund.
 */
const KNOWN_CASES = WORK_STATUSES.flatMap((status) =>
  ATTEMPT_STATES.flatMap((attemptState) =>
    OBSERVED_OUTCOMES.filter(
      (outcome) => judgeObservation({ status, attemptState, latestAttempt: true }, outcome) === 'known',
    ).map((outcome) => `${status}/${attemptState}/${outcome}`),
  ),
);

const settledRows = z.array(
  z.object({
    id: z.coerce.bigint(),
    workId: z.string(),
    attempt: z.number(),
    requestId: z.string().nullable(),
    traceparent: z.string().nullable(),
  }),
);

/**
 * One statement for each kind of work: most reports repeat the answer to a send. All that is not plainly known, or is
 * locked now, is left to `judgeReport`. Holds the work and the attempt while it decides, and waits for neither.
 */
export async function settleKnown(db: Executor, rows: readonly ReadRow[], now: Date): Promise<ReadonlySet<bigint>> {
  const settled = new Set<bigint>();
  for (const [kind, ofKind] of Map.groupBy(rows.filter(isPlain), ({ event }) => event.kind)) {
    const answer = await db.execute(settlement(kind, ofKind, now));
    const reports = new Map(ofKind.map((each) => [each.row.id, each]));
    for (const { id, workId, ...ofWork } of settledRows.parse(answer.rows)) {
      settled.add(id);
      const report = reports.get(id);
      if (report === undefined) continue;
      const { row, event } = report;
      const about = { kind, id: workId, ...ofWork, inboxId: String(id) };
      noteFact(db, { fact: 'report', ...about, source: row.source, outcome: event.outcome, decision: 'known' });
    }
  }
  return settled;
}

/** No more than the outcome and names of the purchase. An earlier judgement as something new stays. */
function isPlain({ row, event }: ReadRow): boolean {
  const { serviceId, cancellation, endedAs, access, startedAt, expiresAt } = event;
  const isJudged = row.decision !== null && row.decision !== 'known';
  const more = [cancellation, endedAs, access, startedAt, expiresAt];
  return serviceId !== undefined && more.every((each) => each === undefined) && !isJudged;
}

function settlement(kind: WorkKind, rows: readonly ReadRow[], now: Date): SQL {
  const table = workTable(kind);
  const ordered = PRODUCT_COLUMNS[kind] ?? sql`null::integer`;
  const reports = rows.map(({ row, event }) => ({
    id: String(row.id),
    tries: row.tries,
    service_id: event.serviceId,
    reference: event.reference,
    outcome: event.outcome,
    sold: event.productId,
    esim: event.serviceEsimId,
    amount: event.charged?.amount,
    currency: event.charged?.currency,
  }));
  return sql`
    with report as (
      select * from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) as report (id bigint, tries integer,
        service_id text, reference text, outcome text, sold integer, esim text, amount numeric,
        currency text)),
    known as materialized (
      select report.id, report.tries, ${attempts.id} as attempt_id, ${attempts.subjectId} as subject_id,
        ${attempts.state} as attempt_state, ${attempts.number} as attempt, ${table.requestId} as request_id,
        ${table.traceparent} as traceparent
      from report
      join ${attempts} on ${attempts.subjectKind} = ${kind} and ${attempts.serviceId} = report.service_id
      join ${table} on ${table.id} = ${attempts.subjectId}
      where (report.reference is null or report.reference = ${attempts.reference})
        and (report.sold is null or ${ordered} is null or report.sold = ${ordered})
        and (report.esim is null or ${attempts.serviceEsimId} is not null)
        and (report.amount is null
        or (report.amount, report.currency) = (${attempts.chargedAmount}, ${attempts.chargedCurrency}))
        and ${table.status} || '/' || ${attempts.state} || '/' || report.outcome
          = any(${sql.param(KNOWN_CASES)}::text[])
      for share of ${attempts}, ${table} skip locked)
    update inbox set state = 'applied', decision = 'known', attempt_id = known.attempt_id, subject_kind = ${kind},
      subject_id = known.subject_id, note = 'Known already: the attempt was ' || known.attempt_state || '.',
      applied_at = ${now}
    from known
    where inbox.id = known.id and inbox.tries = known.tries and inbox.state = 'pending'
      and (inbox.decision is null or inbox.decision = 'known')
    returning inbox.id, known.subject_id as "workId", known.attempt, known.request_id as "requestId",
      known.traceparent`;
}
