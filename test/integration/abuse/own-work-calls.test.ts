import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';
import { newId } from '#db/connection/ids.ts';
import { apiKeys, auditLog, orders, outbox, timeline } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { failureClasses, isAboutAccount } from '#domain/work/failure.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { guarded, idKind, named, WITHOUT_ID } from '#test/support/api/operations-without-id.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { comparable, startWithTwoKeys } from '#test/support/api/two-keys.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import type { OwnWork } from '#test/support/work/own-work.ts';

const { api, limited, other, others } = await startWithTwoKeys();
afterAll(() => api[Symbol.asyncDispose]());

const withId = () =>
  guarded(api).filter((operation) => operation.accountWide !== true && idKind(operation) !== undefined);

const call = (client: HttpClient, operation: Operation, id: string) => {
  const body = operation.body && bodyExampleOf(operation);
  return callOperation(client, operation, { body, headers: { 'Idempotency-Key': randomUUID() } }, id);
};

async function idOfKey(client: HttpClient): Promise<string | undefined> {
  const prefix = client.headers['authorization']?.split('_')[2] ?? '';
  return (await api.database.run((db) => db.select().from(apiKeys).where(eq(apiKeys.prefix, prefix))))[0]?.id;
}

const counts = () =>
  api.database.run((db) => Promise.all([timeline, auditLog, outbox].map((table) => db.$count(table))));

describe('every call of the API', () => {
  it('is account-wide, has an id of a known kind, or has a row in the table of this test', () => {
    const homeless = guarded(api).filter(
      (operation) =>
        operation.accountWide !== true && idKind(operation) === undefined && WITHOUT_ID[operation.id] === undefined,
    );
    expect(homeless.map(({ id }) => id)).toEqual([]);
    expect(withId().length).toBeGreaterThan(25);
  });

  it('treats the id of another key like a missing one, without a trace, and serves its own key', async () => {
    const before = await counts();
    for (const operation of withId()) {
      const kind = idKind(operation) as keyof OwnWork['ids'];
      expect(others.ids, operation.id).toHaveProperty(kind);
      const missing = comparable(await call(limited, operation, newId(kind)));
      expect(missing.status, operation.id).toBe(404);
      expect(comparable(await call(limited, operation, others.ids[kind])), operation.id).toEqual(missing);
    }
    expect(await counts()).toEqual(before);
    // A deletion would remove the rows of the other key.
    for (const operation of withId().filter(({ method }) => method !== 'delete')) {
      const kind = idKind(operation) as keyof OwnWork['ids'];
      expect((await call(other, operation, others.ids[kind])).status, operation.id).not.toBe(404);
    }
  });

  it('that is account-wide is refused to an own-work key before any read, and allowed to others', async () => {
    const everything = await api.caller();
    const wide = guarded(api).filter(({ accountWide }) => accountWide === true);
    expect(wide.length).toBeGreaterThan(9);
    for (const operation of wide) {
      const answer = await call(limited, operation, newId('case'));
      expect([operation.id, answer.status, answer.at('code')]).toEqual([operation.id, 403, 'account_wide_only']);
      const allowed = await call(everything, operation, newId('case'));
      expect(allowed.at('code'), operation.id).not.toBe('account_wide_only');
    }
  });

  it("that lists returns only the key's own work, also with a reference filter", async () => {
    // Earlier calls with the other key may have closed the existing case.
    const topup = { kind: 'topup', id: others.ids.topup } as const;
    await api.database.transaction((tx) => openCase(tx, topup, 'outcome_unknown', 'The outcome is unknown.'));
    const othersKey = await idOfKey(other);
    for (const { id, path } of named(api, 'own list')) {
      const seen = await other.get(path);
      expect([id, seen.status, seen.body]).toEqual([id, 200, { data: [expect.anything()], next_cursor: null }]);
      // eSIMs, refunds and cases result from work and have no creator.
      const creator = /list(Esims|Refunds|Cases)/.test(id) ? undefined : othersKey;
      expect([id, seen.at('data', 0, 'created_by')]).toEqual([id, creator]);
      expect([id, (await limited.get(path)).body]).toEqual([id, { data: [], next_cursor: null }]);
    }
    for (const { id, path } of named(api, 'own file')) {
      const lines = async (caller: HttpClient) => (await caller.get(path)).text.trimEnd().split('\r\n');
      expect([id, (await lines(other)).length, (await lines(limited)).length]).toEqual([id, 2, 1]);
    }
    const { ids, externalOrderId, externalTopupId, externalSubscriptionId, iccid } = others;
    for (const query of [
      `orders?external_order_id=${externalOrderId}`,
      `topups?external_topup_id=${externalTopupId}`,
      `topups?esim_id=${ids.esim}`,
      `vpn/subscriptions?external_subscription_id=${externalSubscriptionId}`,
      `cancellations?esim_id=${ids.esim}`,
      `refunds?esim_id=${ids.esim}`,
      `esims?order_id=${ids.order}`,
      `esims?external_order_id=${externalOrderId}`,
      `esims?iccid=${iccid}`,
      'cases?reason=outcome_unknown',
      ...['orders', 'topups', 'vpn/subscriptions', 'cancellations'].map((list) => `${list}?created_by=${othersKey}`),
    ]) {
      expect([query, (await other.get(`/v1/${query}`)).at('data', 0)]).not.toEqual([query, undefined]);
      expect([query, (await limited.get(`/v1/${query}`)).at('data')]).toEqual([query, []]);
    }
  });

  it('about the own key returns the calling key', async () => {
    expect(named(api, 'own key').map(({ path }) => path)).toEqual(['/v1/key']);
    for (const client of [limited, other]) expect((await client.get('/v1/key')).at('id')).toBe(await idOfKey(client));
  });

  it('that acts on many items does not find those of another key, by filter or by id', async () => {
    for (const { id, path, tag } of named(api, 'changes own')) {
      const kind = (
        { orders: 'order', topups: 'topup', subscriptions: 'vpn_subscription', cancellations: 'cancellation' } as const
      )[path.split('/').at(-2) ?? ''];
      if (kind === undefined) throw new Error(`${id} (${tag}) is of an unknown kind`);
      const act = (client: HttpClient, filter: object, dryRun: boolean) =>
        postOnce(client, path, { action: 'retry', filter, reason: 'test', dry_run: dryRun });
      const own = { ids: [others.ids[kind]] };
      // Its own key finds it, with any possible result of the action.
      expect([id, (await act(other, own, true)).at('data', 0, 'status')]).toEqual([id, expect.any(String)]);
      for (const dryRun of [true, false]) {
        const found = (await act(limited, own, dryRun)).at('data');
        expect([id, found]).toMatchObject([id, [{ result: 'not_found', status: null }]]);
        for (const filter of [{ created_after: '2020-01-01T00:00:00Z' }, { created_by: await idOfKey(other) }]) {
          const none = { dry_run: dryRun, matched: 0, remaining: 0, data: [] };
          expect([id, (await act(limited, filter, dryRun)).body]).toEqual([id, none]);
        }
      }
    }
  });

  it('tells an own-work key nothing that concerns the account: not why its work is held, who paused, or what others spend', async () => {
    const everything = await api.caller();
    const secret = 'of-the-account';
    const pause = { kind: 'order', reason: secret };
    expect((await postOnce(everything, '/v1/purchase-gate/pauses', pause)).status).toBe(201);
    const id = (await postOnce(other, '/v1/orders', orderInput())).textAt('id');
    const work = { kind: 'order', id } as const;
    for (const failed of failureClasses.filter(isAboutAccount)) {
      const failure = { class: failed, detail: secret, serviceMessage: secret };
      const record = async (step: Pick<Parameters<typeof recordStep>[1], 'status' | 'event' | 'attention'>) => {
        const all = { work, failure, message: secret, stepKey: `${step.event} ${failed}`, ...step };
        await api.database.transaction((tx) => recordStep(tx, all, new Date(TEST_NOW)));
      };
      const attention = { reason: 'attempts_used_up', detail: secret } as const;
      await record({ status: 'held', event: 'order.held' });
      await record({ status: 'needs_attention', event: 'order.needs_attention', attention });
      await api.publish();
      const opened = await other.get('/v1/cases?limit=100');
      expect(opened.text).toContain(id);
      await record({ status: 'held', event: 'order.held_again' });
      const ids: Record<string, string> = { ...others.ids, order: id };
      const ofOrder = z.object({ data: z.array(z.object({ id: z.string(), subject_id: z.string() })) });
      const found = opened.read(ofOrder).data.find(({ subject_id: subject }) => subject === id);
      ids['case'] = found?.id ?? '';
      const answers = [opened];
      for (const operation of guarded(api)) {
        if (operation.accountWide === true || operation.id === 'streamEvents' || operation.method === 'delete')
          continue;
        answers.push(await call(other, operation, ids[String(idKind(operation))] ?? 'x'));
      }
      const more = [
        `orders/${id}?expand=operations`,
        'orders?expand=operations&status=held',
        `events?subject_id=${id}`,
      ];
      for (const path of more) answers.push(await other.get(`/v1/${path}`));
      answers.push(await other.post('/v1/quotes', { package_id: 101 }));
      expect(answers.filter(({ text }) => text.includes(secret)).map(({ text }) => text)).toEqual([]);
      expect((await other.get(`/v1/orders/${id}`)).at('failure', 'class')).toBe(failed);
      expect((await everything.get(`/v1/orders/${id}`)).text).toContain(secret);
    }
  });
});

describe('work that needs attention', () => {
  it('gives an own-work key the reason in plain words, and nothing about the account', async () => {
    const id = (await postOnce(limited, '/v1/orders', orderInput())).textAt('id');
    const work = { kind: 'order', id } as const;
    const secret = 'The wallet shows a debit that may be for this attempt: txn_9 over 77.00 USD.';
    await api.database.transaction(async (tx) => {
      const failure = { failureClass: 'supplier_failed', failureDetail: secret } as const;
      const attention = { status: 'needs_attention', attentionReason: 'evidence_unavailable' } as const;
      const state = { ...attention, ...failure };
      await tx.update(orders).set(state).where(eq(orders.id, id));
      const entry = { message: secret, at: new Date(TEST_NOW) };
      const detail = { attention_reason: 'evidence_unavailable' };
      await addTimelineEntry(tx, work, { ...entry, event: 'order.needs_attention', detail, dedupKey: '1' });
      const ofAttempts = ['evidence_awaited', 'wallet_checked', 'not_listed'].map((step) => `attempt.${step}`);
      for (const event of [...ofAttempts, 'books.unknown_debit'])
        await addTimelineEntry(tx, work, { ...entry, event, dedupKey: event });
      const failed = { event: 'order.held', detail: { failure_class: 'supplier_failed' }, dedupKey: '2' };
      await addTimelineEntry(tx, work, { ...entry, ...failed });
    });
    const [shown, told] = [await limited.get(`/v1/orders/${id}`), await limited.get(`/v1/orders/${id}/timeline`)];
    const reason = { reason: 'evidence_unavailable', meaning: ATTENTION_REASONS.evidence_unavailable.forCaller };
    expect(shown.body).toMatchObject({ attention: reason, failure: { class: 'supplier_failed' } });
    expect(told.body).toMatchObject({ current_state: { reason: reason.meaning, next: 'A person decides.' } });
    for (const { text } of [shown, told]) expect(text).not.toMatch(/wallet shows|txn_9|77\.00/);
    for (const status of ['submitting', 'held', 'processing', 'failed'] as const) {
      const state = { status, attentionReason: null };
      await api.database.run((db) => db.update(orders).set(state).where(eq(orders.id, id)));
      for (const path of [`/v1/orders/${id}`, `/v1/orders/${id}/timeline`, '/v1/orders.csv'])
        expect((await limited.get(path)).text).not.toMatch(/wallet shows|txn_9|77\.00/);
    }
    const everything = await (await api.caller()).get(`/v1/orders/${id}`);
    expect(everything.at('failure', 'detail')).toBe(secret);
    for (const { forCaller } of Object.values(ATTENTION_REASONS))
      expect(forCaller).not.toMatch(/wallet|balance|key|password|token/i);
  });
});
