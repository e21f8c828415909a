/**
 * What must hold once everything is quiet, whatever happened before: each order cost at most once, our journal equals
 * the service's ledger, and nothing that was accepted (an order by us, a webhook with 2xx) is lost.
 */
import Big from 'big.js';
import { isFinal } from '#domain/lifecycle.ts';
import type { Database } from '#db/database.ts';
import { attempts, cases, esims, inbox, journal, orders, outbox } from '#db/schema.ts';
import { SimulatorAdmin, type LedgerLine, type SentWebhook, type SoldOrder } from '#test/support/simulator-admin.ts';
import type { HttpClient } from '#test/support/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Both sides of the books; a {@link Stack} is one. */
export interface BothSides {
  readonly database: Database;
  readonly simulator: HttpClient;
}

export interface BooksOptions {
  /** Ids of orders that our API answered with 202. */
  readonly accepted?: readonly string[];
  /**
   * Ids of parked orders whose wallet movements we cannot know (no evidence was read, or nobody could read it). Their
   * journal may lack what the ledger has; everything else is checked.
   */
  readonly unsettled?: readonly string[];
  /** How long to wait until nothing is under way any more. */
  readonly timeoutMs?: number;
}

type OrderRow = typeof orders.$inferSelect;
type AttemptRow = typeof attempts.$inferSelect;
type JournalRow = typeof journal.$inferSelect;

interface Books {
  readonly orders: readonly OrderRow[];
  readonly attempts: readonly AttemptRow[];
  readonly journal: readonly JournalRow[];
  readonly esims: readonly (typeof esims.$inferSelect)[];
  readonly openCases: readonly (typeof cases.$inferSelect)[];
  readonly inbox: readonly (typeof inbox.$inferSelect)[];
  /** Of the service. */
  readonly ledger: readonly LedgerLine[];
  readonly sold: readonly SoldOrder[];
  readonly webhooks: readonly SentWebhook[];
}

// Rows that a dead relay had in hand come again after 30 s; a reconciler that died with its worker runs again after 60 s.
const QUIET_MS = 110_000;

/** Waits until nothing is under way, then compares both sides. @throws Error that lists every difference. */
export async function checkBooks(stack: BothSides, options: BooksOptions = {}): Promise<void> {
  const differences = await auditBooks(stack, options);
  if (differences.length === 0) return;
  throw new Error(`the books differ in ${differences.length} points:\n${differences.map((each) => `- ${each}`).join('\n')}`);
}

/** As {@link checkBooks}. @returns the differences, as sentences; none when all is well. */
export async function auditBooks(stack: BothSides, options: BooksOptions = {}): Promise<string[]> {
  const restless = await becomeQuiet(stack, options.timeoutMs ?? QUIET_MS);
  const books = await readBooks(stack);
  return [
    ...restless,
    ...lostOrders(books, options.accepted ?? []),
    ...openEnds(books),
    ...costs(books),
    ...movements(books, new Set(options.unsettled)),
    ...goods(books),
    ...lostWebhooks(books),
  ];
}

async function becomeQuiet({ database, simulator }: BothSides, timeoutMs: number): Promise<string[]> {
  const admin = new SimulatorAdmin(simulator);
  const underWay = async (): Promise<string[]> => {
    const [rows, waiting, entries] = await database.run((db) =>
      Promise.all([db.select().from(orders), db.select().from(outbox), db.select().from(inbox)]),
    );
    const open = rows.filter(({ status }) => !isFinal(status) && status !== 'needs_attention');
    const words = entries.filter(({ state }) => state === 'pending' || state === 'relayed');
    const unsent = (await admin.webhooks()).filter(({ status }) => status === 'pending');
    return [
      ...open.map(({ id, status }) => `order ${id} is still ${status}`),
      ...waiting.map(({ subjectId, tries, lastError }) => `the start of order ${subjectId} waits (${tries} tries, ${lastError ?? 'no error'})`),
      ...words.map(({ id, event, state, subjectId, lastError }) => `inbox row ${id} (${event}, ${subjectId ?? 'unmatched'}) is still ${state}: ${lastError ?? 'no error'}`),
      ...unsent.map(({ id, event }) => `the service still tries to deliver ${event} (${id})`),
    ];
  };
  try {
    await waitFor('nothing is under way', async () => (await underWay()).length === 0, { timeoutMs, everyMs: 200 });
    return [];
  } catch {
    return underWay();
  }
}

async function readBooks({ database, simulator }: BothSides): Promise<Books> {
  const admin = new SimulatorAdmin(simulator);
  const [ledger, sold, webhooks] = await Promise.all([admin.ledger(), admin.orders(), admin.webhooks()]);
  return database.run(async (db) => ({
    orders: await db.select().from(orders),
    attempts: await db.select().from(attempts),
    journal: await db.select().from(journal),
    esims: await db.select().from(esims),
    openCases: (await db.select().from(cases)).filter(({ closedAt }) => closedAt === null),
    inbox: await db.select().from(inbox),
    ledger: ledger.filter(({ reason }) => reason !== 'deposit'),
    sold,
    webhooks,
  }));
}

function lostOrders({ orders }: Books, accepted: readonly string[]): string[] {
  const known = new Set(orders.map(({ id }) => id));
  return accepted.filter((id) => !known.has(id)).map((id) => `order ${id} was answered with 202 and is not stored`);
}

/** An order has ended, or a person is told what it waits for. */
function openEnds({ orders, openCases }: Books): string[] {
  return orders.flatMap((order) => {
    if (isFinal(order.status)) return [];
    if (order.status !== 'needs_attention') return [`order ${order.id} neither ended nor waits for a person: ${order.status}`];
    const told = openCases.some(({ subjectId, reason }) => subjectId === order.id && reason === order.attentionReason);
    return told ? [] : [`order ${order.id} is parked (${order.attentionReason ?? 'no reason'}) without an open case that says so`];
  });
}

/** What each order cost: once when completed, at most once when parked, nothing when it ended otherwise. */
function costs({ orders, attempts, ledger }: Books): string[] {
  return orders.flatMap((order) => {
    const references = new Set(attempts.filter(({ subjectId }) => subjectId === order.id).map(({ reference }) => reference));
    const own = ledger.filter(({ external_order_id: reference }) => reference !== null && references.has(reference));
    const net = own.filter(({ type }) => type === 'debit').length - own.filter(({ type }) => type === 'credit').length;
    const [least, most] = order.status === 'completed' ? [1, 1] : [0, order.status === 'needs_attention' ? 1 : 0];
    if (net >= least && net <= most) return [];
    const allowed = least === most ? `${most}` : `at most ${most}`;
    return [`order ${order.id} (${order.status}) has ${net} net debits at the service, allowed is ${allowed}: ${own.map(movementText).join(', ')}`];
  });
}

/** Each movement at the service belongs to exactly one attempt, and our journal has the same ones. */
function movements({ attempts, journal, ledger }: Books, unsettled: ReadonlySet<string>): string[] {
  const references = new Set(attempts.map(({ reference }) => reference));
  const ids = new Set(attempts.map(({ id }) => id));
  const orphans = [
    ...ledger
      .filter(({ external_order_id: reference }) => reference === null || !references.has(reference))
      .map((line) => `the service has ${movementText(line)} for ${line.external_order_id ?? 'no reference'}, which is no attempt of ours`),
    ...journal
      .filter(({ causeId }) => !ids.has(causeId))
      .map((row) => `our journal has ${movementText(row)} for ${row.causeId}, which is no attempt of ours`),
  ];
  const unequal = attempts.flatMap((attempt) => {
    const theirs = ledger.filter((line) => line.external_order_id === attempt.reference).map(movementText).toSorted();
    const ours = journal.filter(({ causeId }) => causeId === attempt.id).map(movementText).toSorted();
    if (theirs.join() === ours.join()) return [];
    // What nobody has read may be missing here; what is here must be there all the same.
    if (unsettled.has(attempt.subjectId) && ours.every((line) => theirs.includes(line))) return [];
    return [
      `attempt ${attempt.number} of order ${attempt.subjectId} (${attempt.reference}, ${attempt.state}):\n` +
        `    the service: ${theirs.join(', ') || 'nothing'}\n    our journal: ${ours.join(', ') || 'nothing'}`,
    ];
  });
  return [...orphans, ...unequal];
}

/** What was bought and not failed is in the hands of its one order. */
function goods({ orders, attempts, esims, sold }: Books): string[] {
  return orders.flatMap((order) => {
    const references = new Set(attempts.filter(({ subjectId }) => subjectId === order.id).map(({ reference }) => reference));
    const bought = sold.filter((each) => references.has(each.external_order_id) && each.status !== 'failed');
    const problems: string[] = [];
    if (bought.length > 1) problems.push(`order ${order.id} was bought ${bought.length} times: ${bought.map(({ id }) => id).join(', ')}`);
    if (order.status === 'completed') {
      const delivered = esims.find(({ orderId }) => orderId === order.id)?.serviceEsimId;
      if (delivered === undefined || !bought.some(({ esim_id: esimId }) => esimId === delivered)) {
        problems.push(`order ${order.id} is completed with eSIM ${delivered ?? 'none'}, which the service did not sell for it`);
      }
    } else if (bought.length > 0 && order.status !== 'needs_attention') {
      problems.push(`order ${order.id} is ${order.status}, but the service sold ${bought.map(({ id }) => id).join(', ')} for it`);
    }
    return problems;
  });
}

/** Whoever got a 2xx for a webhook will not send it again: it must be stored, and be done with. */
function lostWebhooks({ inbox, webhooks }: Books): string[] {
  const stored = new Set(inbox.map(({ deliveryId }) => deliveryId));
  const lost = webhooks
    .filter(({ status, id, tampering }) => status === 'delivered' && !stored.has(tampering?.delivery_id ?? id))
    .map(({ id, event, order_id: orderId }) => `webhook ${id} (${event} of ${orderId ?? 'nothing'}) was acknowledged and is not stored`);
  const unmatched = inbox
    .filter(({ state, subjectId, decision }) => state === 'applied' && (subjectId === null || decision === null))
    .map(({ id, event }) => `inbox row ${id} (${event ?? 'no event'}) is applied, but to nothing`);
  return [...lost, ...unmatched];
}

function movementText(movement: LedgerLine | JournalRow): string {
  const type = 'type' in movement ? movement.type : movement.direction;
  return `${type} ${new Big(movement.amount).toFixed()} ${movement.currency}`;
}
