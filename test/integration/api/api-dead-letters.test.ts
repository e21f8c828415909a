import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { endDeadLetter, listDeadLetters } from '#cli/operator/dead-letters.ts';
import type { Output } from '#cli/terminal/output.ts';
import type { Environment } from '#config/environment.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { auditLog, inbox, outbox } from '#db/schema.ts';
import { startTestApi } from '#test/support/network/api.ts';

const WORK = 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM';

const api = await startTestApi();
const operator = await api.caller(['cases:operate']);
const made = generateApiKey();
const { key } = made;
await api.database.run((db) =>
  addApiKey(db, { name: 'desk', prefix: made.prefix, hash: made.hash, scopes: ['cases:operate'] }),
);
afterAll(() => api[Symbol.asyncDispose]());

/** Delivers an unknown event, which is stored and quarantined. @returns the id of its dead letter. */
async function unknownDelivery(): Promise<string> {
  const id = randomUUID();
  await api.deliver({ id, body: { event: 'order.refurbished', data: { id: `so-${id}` } } });
  const [row] = await api.database.run((db) => db.select().from(inbox).where(eq(inbox.deliveryId, id)));
  return `inbox_${row!.id}`;
}

async function quarantinedRequest(): Promise<string> {
  const row = {
    topic: 'wake_work',
    subjectKind: 'order',
    subjectId: WORK,
    quarantinedAt: fromNow(0),
    lastError: 'It does not exist.',
    tries: 10,
  } as const;
  const [stored] = await api.database.run((db) => db.insert(outbox).values(row).returning());
  return `outbox_${stored!.id}`;
}

const audited = (id: string) => api.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));

describe('dead letters', () => {
  it('are requeued and dismissed once, with actor and reason', async () => {
    for (const [action, state] of [
      ['requeue', 'pending'],
      ['dismiss', 'ignored'],
    ] as const) {
      const id = await unknownDelivery();
      const act = () => operator.post(`/v1/dead-letters/${id}/${action}`, { reason: 'It was mended.' });
      expect((await act()).body).toMatchObject({ id });
      expect((await act()).at('code')).toBe('dead_letter_not_found');
      const [row] = await api.database.run((db) =>
        db
          .select()
          .from(inbox)
          .where(eq(inbox.id, BigInt(id.slice('inbox_'.length)))),
      );
      expect(row).toMatchObject({ state });
      expect(await audited(id)).toMatchObject([
        { action: `dead_letter.${action}`, subjectKind: 'dead_letter', reason: 'It was mended.' },
      ]);
    }
  });
});

describe('reseller dead-letters', () => {
  const access = () => ({ api: api.baseUrl, data: '.data' });
  const said = async (run: (environment: Environment, output: Output) => Promise<void>) => {
    const lines: string[] = [];
    await run({ RESELLER_API_KEY: key }, { write: (text: unknown) => lines.push(String(text)) > 0 });
    return lines.join('');
  };

  it('lists both queues, requeues one letter and dismisses one', async () => {
    await api.database.run((db) => db.delete(outbox));
    const [report, request] = [await unknownDelivery(), await quarantinedRequest()];
    const listed = await said((environment, output) => listDeadLetters(access(), environment, output));
    expect(listed).toMatch(new RegExp(`${report} +unknown +delivery`));
    expect(listed).toMatch(new RegExp(`${request} +wake_work +order +${WORK} +10 +It does not exist\\.`));
    expect(
      await said((environment, output) =>
        endDeadLetter('requeue', request, { ...access(), reason: 'It exists again.' }, environment, output),
      ),
    ).toBe(`${request} is processed again.\n`);
    expect(
      await said((environment, output) =>
        endDeadLetter('dismiss', report, { ...access(), reason: 'Nothing of ours.' }, environment, output),
      ),
    ).toBe(`${report} is dismissed.\n`);
    expect(await said((environment, output) => listDeadLetters(access(), environment, output))).not.toContain(report);
  });
});
