/** Invariants at the end of every seed. */
import { eq, isNotNull } from 'drizzle-orm';
import { attempts, gateDrifts, inbox, outbox } from '#db/schema.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { remaining } from '#test/crash/audit/audit-events.ts';
import { obstacle, type Setting } from '#test/crash/plans/settings.ts';
import type { SetBack } from '#test/crash/run/disturb.ts';
import type { Poisoned } from '#test/crash/run/poison.ts';
import type { Thing } from '#test/crash/run/work.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { reconcileBooks } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { auditBooks, becomeQuiet } from '#test/support/work/books/books.ts';
import { readWork } from '#test/support/work/books/both-sides.ts';
import { netDebits } from '#test/support/work/books/differences.ts';

export interface WorkResult {
  readonly id: string;
  readonly kind: WorkKind;
  readonly nature: Thing['planned']['nature'];
  readonly status: WorkStatus;
  readonly parkedFor: AttentionReason | null;
  /** Why success was not certain with this service; undefined where the work had to succeed. */
  readonly obstacle?: string | undefined;
}

const SUCCESS: ReadonlySet<WorkStatus> = new Set(['completed', 'active', 'cancelling', 'cancelled', 'expired']);

export function succeeded({ status }: Pick<WorkResult, 'status'>): boolean {
  return SUCCESS.has(status);
}

/** Reasons of cases with an unknown purchase or unknown movements. The journal may lack movements of this work. */
const UNKNOWABLE: ReadonlySet<AttentionReason | null> = new Set([
  'outcome_unknown',
  'evidence_unavailable',
  'service_not_answering',
  'records_lost',
  // A report that cannot be read blocks the work before its movements are booked.
  'stalled',
]);

/** Whether the journal may lack movements of work. A list that ends after its oldest rows never shows a later credit. */
function isUnsettled({ parkedFor }: WorkResult, { dialect }: Setting): boolean {
  return UNKNOWABLE.has(parkedFor) || (dialect === 'oldest_rows_only' && parkedFor === 'failed_but_charged');
}

const AGAIN_QUIET_MS = 240_000;

/** Events of the seed that change its invariants. */
interface Circumstances {
  readonly quietMs?: number | undefined;
  readonly setBacks: readonly SetBack[];
  /** True when the sweeper deletes reports of ended work during the run: webhooks need not be stored any more. */
  readonly forgets?: boolean;
  readonly poisoned: readonly Poisoned[];
}

export async function audit(
  stack: Stack,
  setting: Setting,
  things: readonly Thing[],
  { quietMs, setBacks, forgets = false, poisoned }: Circumstances,
) {
  // The service states the times of its webhooks by its own clock.
  const offMs = DIALECTS[setting.dialect].clock_offset_ms;
  const mayBeLost = (fromMs: number, toMs: number) =>
    forgets || setBacks.some((each) => toMs - offMs >= each.fromMs && fromMs - offMs <= each.atMs);
  // The result is not a violation: the audit of the books reports work in progress.
  const restless = await becomeQuiet(stack, quietMs);
  await endOfPurchases(stack, setting);
  const isLate = await rowsAreShown(stack, setting);
  // The next comparison of the books restores the lost journal entries of failed attempts, and books late rows.
  if (setBacks.length > 0 || isLate) await reconcileBooks(stack);
  const results = await readResults(stack, { ...setting, losesCommits: setBacks.length > 0 }, things);
  const accepted = things.flatMap(({ ids }) => [...ids]);
  const unsettled = results.filter((result) => isUnsettled(result, setting)).map(({ id }) => id);
  // The sweeper may have requested work in between. That ends within seconds, also on a busy machine.
  const books = await auditBooks(stack, {
    accepted,
    unsettled,
    listsOldest: DIALECTS[setting.dialect].wallet_keeps_oldest,
    // Do not wait again for work that did not end in time.
    timeoutMs: restless.length > 0 ? 0 : Math.min(quietMs ?? AGAIN_QUIET_MS, AGAIN_QUIET_MS),
    mayBeLost,
  });
  const rest = [
    ...(await debitsOf(stack, things)),
    ...(await sentAfterStop(stack)),
    ...(await remaining('every event is matched', SWEEP_MS, () => unmatchedEvents(stack, results))),
  ];
  return { violations: [...books, ...rest, ...(await poisonLeft(stack, poisoned))], results };
}

/** A stopped process may send a purchase that ends after the work. Its debit must not escape the audit. */
async function endOfPurchases(stack: Stack, { properties: { purchase_takes_ms: takesMs } }: Setting): Promise<void> {
  if (typeof takesMs !== 'number') return;
  const admin = new SimulatorAdmin(stack.simulator);
  const isUnderWay = async (endpoint: string) => (await admin.requests(endpoint)).some(({ status }) => status === null);
  await waitFor('the service carries out no purchase', async () => {
    const underWay = await Promise.all(['createOrder', 'createTopup', 'createVpnOrder'].map(isUnderWay));
    return !underWay.includes(true);
  });
}

/**
 * Waits until a wallet that shows rows late shows all of them: a debit and its credit together leave the balance as it
 * was, and the attempt that they belong to is judged before.
 * @returns false for a wallet that shows its rows at once.
 */
async function rowsAreShown(stack: Stack, { properties }: Setting): Promise<boolean> {
  const lateMs = properties.wallet_rows_after_ms ?? properties.wallet_list_cached_ms;
  if (typeof lateMs !== 'number') return false;
  const admin = new SimulatorAdmin(stack.simulator);
  await waitFor('the wallet shows its rows', async () =>
    (await admin.ledger()).every(({ created_at: at }) => Date.parse(at) + lateMs < Date.now()),
  );
  return true;
}

function idsOf(poisoned: readonly Poisoned[], row: Poisoned['row']): ReadonlySet<string> {
  return new Set(poisoned.filter((each) => each.row === row).map(({ id }) => id));
}

/** Exactly the unprocessable rows are quarantined. A look-up replaces the content of a quarantined delivery. */
async function poisonLeft({ database }: Stack, poisoned: readonly Poisoned[]): Promise<string[]> {
  const [deliveries, requests] = await database.run((db) =>
    Promise.all([db.select().from(inbox), db.select().from(outbox)]),
  );
  const unopened = idsOf(poisoned, 'inbox');
  const workless = idsOf(poisoned, 'outbox');
  const quarantined = new Set(requests.flatMap((row) => (row.quarantinedAt === null ? [] : [row.subjectId])));
  return [
    ...deliveries
      .filter(({ id, state }) => unopened.has(String(id)) && state !== 'quarantined')
      .map(
        ({ id, state, lastError }) =>
          `inbox row ${id} cannot be opened and is ${state}, not quarantined: ${lastError ?? 'no error'}`,
      ),
    ...[...workless]
      .filter((id) => !quarantined.has(id))
      .map((id) => `the start of ${id}, which does not exist, is not quarantined`),
    ...[...quarantined]
      .filter((id) => !workless.has(id))
      .map((id) => `a request for ${id} is quarantined, and nothing was wrong with it`),
  ];
}

async function readResults(
  stack: Stack,
  setting: Parameters<typeof obstacle>[0],
  things: readonly Thing[],
): Promise<WorkResult[]> {
  const { database } = stack;
  const natures = new Map(things.flatMap(({ planned, ids }) => [...ids].map((id) => [id, planned.nature] as const)));
  const [sends, received] = await database.run((db) =>
    Promise.all([db.select().from(attempts), db.select().from(inbox)]),
  );
  const admin = new SimulatorAdmin(stack.simulator);
  const debits = (await admin.ledger()).filter(({ type }) => type === 'debit');
  const cancelled = new Set((await admin.refunds()).map(({ esim_id: esimId }) => esimId));
  const arrived = ({ subjectKind, reference, serviceEsimId }: (typeof sends)[number]) =>
    subjectKind === 'cancellation'
      ? serviceEsimId !== null && cancelled.has(serviceEsimId)
      : debits.some((line) =>
          subjectKind === 'topup'
            ? line.topup_id !== null && line.esim_id === serviceEsimId
            : reference !== null && (line.external_order_id ?? line.external_subscription_id) === reference,
        );
  const rows = await database.run(readWork);
  return rows.map(({ kind, id, status, attentionReason }) => {
    const unknown = sends.filter(
      (attempt) => attempt.subjectId === id && (attempt.anyUnknown || attempt.state === 'sending'),
    );
    const nature = natures.get(id) ?? 'sold';
    const facts = {
      kind,
      nature,
      anyUnknown: unknown.length > 0,
      neverArrived: unknown.some((attempt) => !arrived(attempt)),
      reported: received.some(
        (row) =>
          row.subjectId === id && row.source === 'webhook' && row.outcome === 'completed' && row.state === 'applied',
      ),
    };
    return {
      id,
      kind,
      nature,
      status,
      parkedFor: status === 'needs_attention' ? attentionReason : null,
      obstacle: obstacle(setting, facts),
    };
  });
}

/** Each purchase of a caller is one piece of work, with at most one debit without a credit. */
async function debitsOf(stack: Stack, things: readonly Thing[]): Promise<string[]> {
  const ledger = await new SimulatorAdmin(stack.simulator).ledger();
  // Top-ups have no reference at the service, so they are counted together.
  const wanted = things.filter(({ planned }) => planned.kind === 'topup').length;
  const cost = netDebits(ledger.filter((line) => line.refund_id === null && line.topup_id !== null));
  const recharged = cost <= wanted ? [] : [`${wanted} top-ups were asked for and cost ${cost} debits`];
  const bought = things.flatMap(({ reference, ids }) => {
    const own = ledger.filter(
      // The refund of a cancelled eSIM does not allow a second debit.
      (line) =>
        line.refund_id === null &&
        ((line.external_order_id ?? line.external_subscription_id)?.startsWith(reference) ?? false),
    );
    const net = netDebits(own);
    return [
      // No id: the work was lost, and the eSIM that it needs was not delivered again.
      ...(ids.size <= 1
        ? []
        : [`${reference} was asked for once and is ${ids.size} pieces of work: ${[...ids].join(', ')}`]),
      ...(net <= 1 ? [] : [`${reference} was bought once and cost ${net} debits`]),
    ];
  });
  return [...bought, ...recharged];
}

/** No purchase is sent whose delivery cannot be used, while its product is stopped for that. */
async function sentAfterStop({ database }: Stack): Promise<string[]> {
  const drifts = await database.run((db) =>
    db
      .select({ drift: gateDrifts, sentAt: attempts.firstSentAt })
      .from(gateDrifts)
      .innerJoin(attempts, eq(attempts.id, gateDrifts.attemptId))
      .where(isNotNull(gateDrifts.driftedAt)),
  );
  return drifts.flatMap(({ drift: { subjectKind, subjectId, product }, sentAt }) => {
    const stop = drifts.find(
      ({ drift }) =>
        drift.subjectKind === subjectKind &&
        drift.product === product &&
        drift.driftedAt !== null &&
        sentAt !== null &&
        drift.driftedAt < sentAt &&
        (drift.settledAt === null || drift.settledAt > sentAt),
    );
    return stop === undefined ? [] : [`${subjectId} was sent after the stop by ${stop.drift.subjectId}`];
  });
}

/** A sweep that was killed with its worker runs again after a minute, and matches events then. */
const SWEEP_MS = 75_000;

/** Every accepted delivery is applied or quarantined, except those of a top-up with an unknown outcome. */
async function unmatchedEvents(stack: Stack, results: readonly WorkResult[]): Promise<string[]> {
  const rows = await stack.database.run((db) => db.select().from(inbox));
  const openTopup = results.some(({ kind, parkedFor }) => kind === 'topup' && UNKNOWABLE.has(parkedFor));
  return rows
    .filter(({ state, subjectKind }) => state === 'unmatched' && !(subjectKind === 'topup' && openTopup))
    .map(
      ({ id, event, serviceId }) =>
        `inbox row ${id} (${event ?? 'no event'} of ${serviceId ?? 'nothing'}) was accepted and matches nothing`,
    );
}
