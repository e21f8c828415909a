import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { endDeadLetter, listDeadLetters } from '#cli/operator/dead-letters.ts';
import type { Output } from '#cli/terminal/output.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { inbox, outbox } from '#db/schema.ts';
import { auditOf } from '#test/integration/api/support.ts';
import { newKey } from '#test/support/api/keys.ts';
import { captured } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const WORK = 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM';

const api = disposedAtEnd(await startTestApi());
const { client: operator, key } = await newKey(api, { scopes: ['cases:operate'] });

/** Delivers an unknown event, which is stored and quarantined. @returns the id of its dead letter. */
async function unknownDelivery(): Promise<string> {
  const id = randomUUID();
  await api.deliver({ id, body: { event: 'order.refurbished', data: { id: `so-${id}` } } });
  const [row] = await api.database.run((db) => db.select().from(inbox).where(eq(inbox.deliveryId, id)));
  return `inbox_${row!.id}`;
}

async function quarantinedRequest(): Promise<string> {
  const failed = { quarantinedAt: fromNow(0), lastError: 'It does not exist.', tries: 10 };
  const row = { topic: 'wake_work', subjectKind: 'order', subjectId: WORK, ...failed } as const;
  const [stored] = await api.database.run((db) => db.insert(outbox).values(row).returning());
  return `outbox_${stored!.id}`;
}

describe('dead letters', () => {
  it.each([
    ['requeue', 'pending'],
    ['dismiss', 'ignored'],
  ])('take one %s, with actor and reason', async (action, state) => {
    const id = await unknownDelivery();
    const act = () => operator.post(`/v1/dead-letters/${id}/${action}`, { reason: 'It was mended.' });
    expect((await act()).body).toMatchObject({ id });
    expect((await act()).at('code')).toBe('dead_letter_not_found');
    const row = BigInt(id.slice('inbox_'.length));
    expect(await api.database.run((db) => db.select().from(inbox).where(eq(inbox.id, row)))).toMatchObject([{ state }]);
    const entry = { action: `dead_letter.${action}`, subjectKind: 'dead_letter', reason: 'It was mended.' };
    expect(await auditOf(api, id)).toMatchObject([entry]);
  });
});

describe('reseller dead-letters', () => {
  const access = { api: api.baseUrl, data: '.data' };
  const environment = { RESELLER_API_KEY: key };
  const said = async (run: (output: Output) => Promise<void>) => {
    const output = captured();
    await run(output);
    return output.text();
  };
  const list = () => said((output) => listDeadLetters(access, environment, output));
  const end = (action: 'requeue' | 'dismiss', id: string, reason: string) =>
    said((output) => endDeadLetter(action, id, { ...access, reason }, environment, output));

  it('lists both queues, requeues one letter and dismisses one', async () => {
    await api.database.run((db) => db.delete(outbox));
    const [report, request] = [await unknownDelivery(), await quarantinedRequest()];
    const listed = await list();
    expect(listed).toMatch(new RegExp(`${report} +unknown +delivery`));
    expect(listed).toMatch(new RegExp(`${request} +wake_work +order +${WORK} +10 +It does not exist\\.`));
    expect(await end('requeue', request, 'It exists again.')).toBe(`${request} is processed again.\n`);
    expect(await end('dismiss', report, 'Nothing of ours.')).toBe(`${report} is dismissed.\n`);
    expect(await list()).not.toContain(report);
  });
});
