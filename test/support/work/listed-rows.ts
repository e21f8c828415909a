/**
 * Two rows (A and B) of every resource that the API lists. They differ in all filters. They are written without the
 * API, so that each list has no other rows.
 */
import { newCustomer } from '#api/work/work-input.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { CustomerWork } from '#db/encryption-aads.ts';
import {
  attempts,
  auditLog,
  cancellations,
  cases,
  esims,
  events,
  gatePauses,
  journal,
  orderBatches,
  orders,
  pricingRules,
  reconciliations,
  refunds,
  shareLinks,
  topups,
  vpnSubscriptions,
  walletMovements,
  webhookDeliveries,
  webhookEndpoints,
} from '#db/schema.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { termsWith } from '#test/support/pricing-terms.ts';

export const LETTERS = ['A', 'B'] as const;
export type Letter = (typeof LETTERS)[number];
type Both<Value> = Readonly<Record<Letter, Value>>;

function both<Value>(make: () => Value): Both<Value> {
  return { A: make(), B: make() };
}

export const IDS = {
  order: both(() => newId('order')),
  batch: both(() => newId('orderBatch')),
  esim: both(() => newId('esim')),
  topup: both(() => newId('topup')),
  vpn: both(() => newId('vpn_subscription')),
  cancellation: both(() => newId('cancellation')),
  refund: both(() => newId('refund')),
  attempt: both(() => newId('attempt')),
  case: both(() => newId('case')),
  event: both(() => newId('event')),
  delivery: both(() => newId('webhookDelivery')),
  rule: { ...both(() => newId('pricingRule')), ended: newId('pricingRule') },
  pause: { ...both(() => newId('pause')), ended: newId('pause') },
  reconciliation: both(() => newId('reconciliation')),
  endpoint: both(() => newId('webhookEndpoint')),
  shareLink: both(() => newId('shareLink')),
  key: both(() => newId('apiKey')),
  movement: 'wt_9',
} as const;

/** Times of creation and of the last change. All four differ, so that a test distinguishes their filters. */
const MADE = { A: minutes(10), B: minutes(0) } as const;
const CHANGED = { A: minutes(30), B: minutes(20) } as const;
/** Times between those of A and B. */
export const BETWEEN = { made: minutes(5).toISOString(), changed: minutes(25).toISOString() } as const;

export const ICCID: Both<string> = { A: '8944500102198304826', B: '8944500102198304834' };
export const CUSTOMER: Both<string> = { A: 'customer A', B: 'customer B' };
export const ACTOR: Both<string> = { A: 'command/ann', B: 'command/bob' };

const WORK = {
  A: { status: 'held', failureClass: 'timeout', attentionReason: 'outcome_unknown' },
  B: { status: 'needs_attention', failureClass: 'not_sent', attentionReason: 'contradiction' },
} as const;
const PACKAGE = { A: 101, B: 102 } as const;

function minutes(count: number): Date {
  return new Date(TEST_NOW + count * 60_000);
}

/** Writes the rows. @returns the ids that the database generates. */
export async function writeListedRows({
  database,
  keyRing,
}: Pick<TestApi, 'database' | 'keyRing'>): Promise<{ readonly journal: Both<string>; readonly movement: string }> {
  return database.transaction(async (tx) => {
    for (const letter of LETTERS) {
      const times = { createdAt: MADE[letter], updatedAt: CHANGED[letter] };
      const esimId = IDS.esim[letter];
      const orderId = IDS.order[letter];
      const work = { apiKeyId: IDS.key[letter], ...WORK[letter], metadata: { row: letter, test: 'filters' }, ...times };
      const customerOf = (kind: CustomerWork, id: string) => newCustomer(keyRing, kind, id, CUSTOMER[letter]);
      const batchId = IDS.batch[letter];
      await tx.insert(orders).values({
        ...work,
        id: orderId,
        externalOrderId: `order-${letter}`,
        packageId: PACKAGE[letter],
        esimId,
        batchId,
        ...customerOf('order', orderId),
      });
      await tx.insert(orderBatches).values({
        id: batchId,
        apiKeyId: IDS.key[letter],
        externalBatchId: `batch-${letter}`,
        items: [],
        size: 1,
        createdAt: MADE[letter],
        ...(letter === 'B' && { failed: 1, completedAt: CHANGED.B }),
      });
      await tx.insert(topups).values({
        ...work,
        id: IDS.topup[letter],
        externalTopupId: `topup-${letter}`,
        ...customerOf('topup', IDS.topup[letter]),
        packageId: PACKAGE[letter],
        esimId,
      });
      await tx.insert(cancellations).values({ ...work, id: IDS.cancellation[letter], esimId });
      await tx.insert(vpnSubscriptions).values({
        ...work,
        id: IDS.vpn[letter],
        externalSubscriptionId: `vpn-${letter}`,
        vpnPlanId: PACKAGE[letter],
        ...customerOf('vpn_subscription', IDS.vpn[letter]),
        customerPrice: '5.00',
        customerPriceCurrency: 'USD',
      });
      await tx.insert(refunds).values({
        ...times,
        id: IDS.refund[letter],
        cancellationId: IDS.cancellation[letter],
        esimId,
        orderId,
        status: letter === 'A' ? 'expected' : 'failed',
      });
      await tx.insert(esims).values({
        ...times,
        id: esimId,
        orderId,
        serviceEsimId: `se_${letter}`,
        iccid: ICCID[letter],
        packageId: PACKAGE[letter],
        encryptedActivationCode: Buffer.alloc(1),
        ...customerOf('order', orderId),
        status: letter === 'A' ? 'installed' : 'active',
        readAt: minutes(40),
      });
      await tx.insert(attempts).values({
        id: IDS.attempt[letter],
        subjectKind: 'order',
        subjectId: orderId,
        number: 1,
        idempotencyKey: `key-${letter}`,
        reference: `order-${letter}`,
        encryptedRequestBody: Buffer.alloc(1),
        serviceEsimId: `se_${letter}`,
      });
      await tx.insert(cases).values({
        id: IDS.case[letter],
        subjectKind: 'order',
        subjectId: orderId,
        reason: WORK[letter].attentionReason,
        detail: '',
        openedAt: MADE[letter],
      });
      await tx.insert(auditLog).values({
        at: MADE[letter],
        actor: ACTOR[letter],
        action: letter === 'A' ? 'order.retry' : 'esim.qr_revealed',
        subjectKind: letter === 'A' ? 'order' : 'esim',
        subjectId: letter === 'A' ? IDS.order.A : IDS.esim.B,
      });
    }
    await writeEvents(tx);
    await writeRules(tx);
    await writePauses(tx);
    await writeReconciliations(tx);
    return writeWallet(tx);
  });
}

/** Writes two endpoints, two share links, and two events in order of time, each queued for the first endpoint. */
async function writeEvents(tx: Executor): Promise<void> {
  const [ofB, ofA] = [
    { id: IDS.event.B, position: 1n, data: {}, occurredAt: MADE.B },
    { id: IDS.event.A, position: 2n, data: {}, occurredAt: MADE.A },
  ];
  await tx.insert(events).values([
    { ...ofB, type: 'esim.expiring', subjectKind: 'esim', subjectId: IDS.esim.B },
    { ...ofA, type: 'order.held', subjectKind: 'order', subjectId: IDS.order.A },
  ]);
  const receiver = {
    url: 'https://shop.example.com/webhooks',
    eventTypes: ['*'],
    createdAt: MADE.B,
    updatedAt: MADE.B,
  };
  await tx
    .insert(webhookEndpoints)
    .values(LETTERS.map((letter) => ({ ...receiver, id: IDS.endpoint[letter], apiKeyId: IDS.key[letter] })));
  await tx.insert(shareLinks).values(
    LETTERS.map((letter) => ({
      id: IDS.shareLink[letter],
      esimId: IDS.esim[letter],
      apiKeyId: IDS.key[letter],
      secretHash: Buffer.from(letter),
      createdAt: MADE.B,
      expiresAt: minutes(60),
      revokedAt: letter === 'A' ? null : MADE.B,
    })),
  );
  const queued = { endpointId: IDS.endpoint.A, triedSince: MADE.B, createdAt: MADE.B };
  await tx.insert(webhookDeliveries).values([
    { ...queued, id: IDS.delivery.A, eventId: IDS.event.A, state: 'pending', nextTryAt: minutes(60) },
    { ...queued, id: IDS.delivery.B, eventId: IDS.event.B, state: 'failed', endedAt: minutes(1) },
  ]);
}

/** Writes both rules, and an ended one. */
async function writeRules(tx: Executor): Promise<void> {
  const terms = termsWith({ margin: { percent: '35', amount: '0' } });
  const rule = { terms, version: 1, createdAt: MADE.A, updatedAt: MADE.A };
  await tx.insert(pricingRules).values([
    { ...rule, id: IDS.rule.A, targetKind: 'package', targetKey: '101', currency: 'EUR' },
    { ...rule, id: IDS.rule.B, targetKind: 'country', targetKey: 'DE', currency: 'USD' },
    { ...rule, id: IDS.rule.ended, targetKind: 'default', targetKey: '', currency: 'GBP', endedAt: CHANGED.A },
  ]);
}

/** Writes both pauses, and a released one. */
async function writePauses(tx: Executor): Promise<void> {
  const pause = { reason: 'Stock-taking.', pausedBy: 'key_test', pausedAt: MADE.A };
  await tx.insert(gatePauses).values([
    { ...pause, id: IDS.pause.A, kind: 'order', failureClass: 'timeout' },
    { ...pause, id: IDS.pause.B, kind: 'topup', failureClass: 'not_sent' },
    { ...pause, id: IDS.pause.ended, releasedAt: CHANGED.A, releasedBy: 'key_test', releaseReason: 'Done.' },
  ]);
}

async function writeReconciliations(tx: Executor): Promise<void> {
  const counts = { read: 0, new: 0, matched: 0, booked: 0, pending: 0, unmatched: 0, outstanding: 0, findings: 0 };
  const nothing = { detail: '', counts, sums: [], findings: [], findingCounts: {} };
  for (const letter of LETTERS) {
    const at = MADE[letter];
    const report = { id: IDS.reconciliation[letter], runId: `run-${letter}`, startedAt: at, finishedAt: at };
    const status = letter === 'A' ? 'complete' : 'unavailable';
    await tx.insert(reconciliations).values({ ...report, ...nothing, readSince: at, status });
  }
}

/** Writes the debit of order A, the refund of order B, and a movement without work of ours. */
async function writeWallet(tx: Executor): Promise<{ journal: Both<string>; movement: string }> {
  const price = { amount: '9.80', currency: 'EUR' };
  const [B, A] = await tx
    .insert(journal)
    .values([
      { direction: 'credit', ...price, causeKind: 'refund', causeId: IDS.order.B, recordedAt: MADE.B },
      { direction: 'debit', ...price, causeKind: 'attempt', causeId: IDS.attempt.A, recordedAt: MADE.A },
    ])
    .returning({ id: journal.id });
  const [movement] = await tx
    .insert(walletMovements)
    .values({
      serviceId: IDS.movement,
      direction: 'debit',
      amount: '1.00',
      currency: 'EUR',
      reason: 'fee',
      occurredAt: MADE.A,
      readAt: MADE.A,
    })
    .returning({ id: walletMovements.id });
  if (A === undefined || B === undefined || movement === undefined) throw new Error('a row was not written');
  return { journal: { A: `jrn_${A.id}`, B: `jrn_${B.id}` }, movement: `mov_${movement.id}` };
}
