import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openCase } from '#db/work/cases.ts';
import { auditOf, changeOrder } from '#test/integration/api/support.ts';
import { orderEvent } from '#test/support/api/service-deliveries.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { acceptTestOrder, orderWork } from '#test/support/work/order-rows.ts';

const api = disposedAtEnd(await startTestApi());
const operator = await api.caller(['cases:operate']);

/** Two bodies under one delivery id, each correctly signed. */
async function conflict(): Promise<string> {
  const id = randomUUID();
  for (const status of ['processing', 'failed']) await api.deliver({ id, body: orderEvent(status) });
  return id;
}

const list = z.object({ data: z.array(z.looseObject({ id: z.string(), subject_id: z.string() })) });
const listed = async (query = '') => (await operator.get(`/v1/cases?limit=100&${query}`)).read(list).data;

describe('the list of open cases', () => {
  it('finds those about ended work, which stay open there, with the verdicts that are left', async () => {
    const [ended, unfinished] = [await acceptTestOrder(api.database), await acceptTestOrder(api.database)];
    const deliveryId = await conflict();
    await changeOrder(api, ended, { status: 'abandoned' });
    for (const id of [ended, unfinished])
      await api.database.run((db) => openCase(db, orderWork(id), 'contradiction', 'Two reports differ.'));
    const left = { work_status: 'accepted', verdicts: ['bought', 'not_bought', 'dismissed'] };
    expect(await listed('work_ended=true')).toMatchObject([
      { subject_id: ended, work_status: 'abandoned', verdicts: ['dismissed'] },
    ]);
    const others = new Map((await listed('work_ended=false')).map((each) => [each.subject_id, each]));
    expect(others.get(unfinished)).toMatchObject(left);
    expect(others.get(deliveryId)).toMatchObject({ work_status: null });
    expect(others.has(ended)).toBe(false);
  });

  it('closes a case about a delivery once, with actor and reason, and refuses a case about an order', async () => {
    const deliveryId = await conflict();
    const caseOf = async (subject: string) => (await listed()).find((each) => each.subject_id === subject)!;
    const { id } = await caseOf(deliveryId);
    const dismiss = (caseId: string, reason = 'A test of theirs.') =>
      operator.post(`/v1/cases/${caseId}/dismiss`, { reason });
    const [closed, again] = [await dismiss(id), await dismiss(id, 'another reason')];
    expect(closed.body).toMatchObject({ id, resolution: 'dismissed: A test of theirs.' });
    expect(again.body).toEqual(closed.body);
    const entry = { action: 'case.dismiss', subjectKind: 'case', reason: 'A test of theirs.' };
    expect(await auditOf(api, id)).toMatchObject([entry]);
    expect(await caseOf(deliveryId)).toBeUndefined();
    // It remains readable.
    expect((await operator.get(`/v1/cases/${id}`)).body).toEqual(closed.body);

    const orderId = await acceptTestOrder(api.database);
    await api.database.run((db) => openCase(db, orderWork(orderId), 'outcome_unknown', 'The outcome is unknown.'));
    const ofOrder = await caseOf(orderId);
    const refused = await dismiss(ofOrder.id);
    expect([refused.status, refused.at('code')]).toEqual([409, 'action_not_possible']);
    expect((await operator.get(`/v1/cases/${ofOrder.id}`)).body).toEqual(ofOrder);
    expect((await dismiss('case_01JQ8Z9E5F6G7H8J9K0MNPQRST')).at('code')).toBe('case_not_found');
  });
});
