/** ASVS V1 and V2 (injection, validation): hostile text in any string of a request is refused or stored unchanged. */
import { randomUUID } from 'node:crypto';
import { desc, eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';
import { auditLog, orders, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { HOSTILE } from '#test/support/api/hostile-text.ts';
import { guarded, idKind } from '#test/support/api/operations-without-id.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

// An ended stream counts until the API has noticed its end.
const api = disposedAtEnd(
  await startTestApi({ bodyLimitBytes: 262_144, streams: { ...DEFAULT_POLICY.streams, perKey: 1_000 } }),
);
const caller = await api.caller();
const ids: Readonly<Record<string, string>> = (await makeOwnWork(api, caller)).ids;

type Path = readonly string[];
const node = z.looseObject({
  $ref: z.string().optional(),
  $defs: z.record(z.string(), z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** Paths of all texts that a schema accepts. `*` is any name or index. */
function texts(schema: unknown, path: Path = [], defined: Readonly<Record<string, unknown>> = {}): Path[] {
  const read = node.safeParse(schema);
  if (!read.success) return [];
  const { $ref, $defs = defined, type, properties = {}, additionalProperties, items, anyOf = [] } = read.data;
  if ($ref !== undefined) return texts($defs[$ref.replace('#/$defs/', '')], path, $defs);
  return [
    ...([type].flat().includes('string') && read.data.enum === undefined ? [path] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => texts(inner, [...path, name], $defs)),
    ...(typeof additionalProperties === 'object' ? texts(additionalProperties, [...path, '*'], $defs) : []),
    ...(items === undefined ? [] : texts(items, [...path, '*'], $defs)),
    ...anyOf.flatMap((inner) => texts(inner, path, $defs)),
  ];
}

/** The same with a value at a path, which is created if missing. */
function withValue(target: unknown, [name, ...rest]: Path, value: string): unknown {
  if (name === undefined) return value;
  if (name === '*' && Array.isArray(target)) return [withValue(target[0], rest, value)];
  const object = typeof target === 'object' && target !== null ? { ...target } : {};
  const key = name === '*' ? 'note' : name;
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) };
}

const valueAt = (target: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string, unknown>)[name === '*' ? 'note' : name]
        : undefined,
    target,
  );

/** The example of a call as a new request, with existing work. */
function fresh(operation: Operation): Record<string, unknown> {
  const body: Record<string, unknown> = { ...(bodyExampleOf(operation) as object) };
  for (const name of ['external_order_id', 'external_topup_id', 'external_subscription_id'])
    if (name in body) body[name] = randomUUID();
  if ('esim_id' in body) body['esim_id'] = ids['esim'];
  return body;
}

const idOf = (operation: Operation) => ids[String(idKind(operation))];
const send = (operation: Operation, body: unknown) =>
  callOperation(caller, operation, { body, headers: { 'Idempotency-Key': randomUUID() } }, idOf(operation));

/** Only numbers and flags. */
const WITHOUT_TEXT = new Set([
  'rotateServiceWebhookSecret',
  'rotateWebhookEndpointSecret',
  'enableWebhookEndpoint',
  'simulateEsim',
]);

/** A second pause of the same kind is the first one, with its reason. A case shows the reason of its opening. */
const SHOWS_WHAT_IS = new Set(['pauseBuying', 'dismissCase']);

describe('hostile text', () => {
  it('in every text of every body is refused or returned unchanged, without an error', async () => {
    let sent = 0;
    let accepted = 0;
    for (const operation of api.operations.filter(({ reads }) => reads === 'json')) {
      if (operation.body === undefined) continue;
      const paths = texts(z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }));
      expect(paths.length, operation.id).toBeGreaterThan(WITHOUT_TEXT.has(operation.id) ? -1 : 0);
      for (const path of paths) {
        for (const [name, text] of Object.entries(HOSTILE)) {
          const answer = await send(operation, withValue(fresh(operation), path, text));
          const which = `${operation.id} ${path.join('.')}: ${name}`;
          expect([which, answer.status < 500 || answer.status === 501], answer.text).toEqual([which, true]);
          expect([...answer.headers.keys()]).not.toContain('x-evil');
          sent += 1;
          const shown = valueAt(answer.body, path);
          if (answer.status >= 300 || SHOWS_WHAT_IS.has(operation.id) || typeof shown !== 'string') continue;
          expect([which, shown]).toEqual([which, text]);
          accepted += 1;
        }
      }
    }
    expect(sent).toBeGreaterThan(1_000);
    expect(accepted).toBeGreaterThan(10);
    // The tables still exist, so no statement in a text was executed.
    expect((await caller.get('/v1/orders')).status).toBe(200);
  });

  it('in every query and path is refused or finds nothing', async () => {
    const encoded = Object.entries(HOSTILE)
      .filter(([, text]) => text.isWellFormed() && text.length < 100)
      .map(([name, text]) => [name, encodeURIComponent(text)] as const);
    for (const operation of guarded(api).filter(({ method }) => method === 'get')) {
      for (const [name, text] of [
        ...encoded,
        ['half a surrogate pair', '%ED%A0%80'],
        ['an overlong slash', '%C0%AF'],
      ] as const) {
        const own = operation.path.replaceAll(/\{\w+\}/g, idOf(operation) ?? 'x');
        const addresses = [
          ...Object.keys(operation.query?.shape ?? {}).map((parameter) => `${own}?${parameter}=${text}`),
          ...(own === operation.path || text === '' ? [] : [operation.path.replaceAll(/\{\w+\}/g, text)]),
        ];
        for (const address of addresses) {
          const { status, body } = await caller.get(address);
          const which = `${operation.id} ${name} ${address.slice(0, 80)}`;
          expect([which, [200, 400, 404, 409].includes(status)], JSON.stringify(body)).toEqual([which, true]);
          // Only rows created above with this hostile reference are found. References of customers are never returned.
          const found =
            status === 200 && operation.path === own && !address.includes('customer_reference=')
              ? z.array(z.unknown()).parse(valueAt(body, ['data']) ?? [])
              : [];
          const plain = JSON.stringify(HOSTILE[name] ?? '').slice(1, -1);
          expect([which, found.filter((row) => !JSON.stringify(row).includes(plain))]).toEqual([which, []]);
        }
      }
    }
  });

  it('in a reason is stored unchanged in audit log and timeline', async () => {
    const { order: id = '' } = ids;
    const kept: string[] = [];
    for (const [name, text] of Object.entries(HOSTILE)) {
      const held = { status: 'held', failureClass: 'purchases_paused' } as const;
      await api.database.run((db) => db.update(orders).set(held).where(eq(orders.id, id)));
      // No relay runs here, so the retry before would still be pending.
      await api.database.run((db) => db.delete(outbox).where(eq(outbox.subjectId, id)));
      const answer = await caller.post(`/v1/orders/${id}/retry`, { reason: text });
      expect([name, [200, 400].includes(answer.status)], answer.text).toEqual([name, true]);
      if (answer.status !== 200) continue;
      const [entry] = await api.database.run((db) =>
        db.select().from(auditLog).where(eq(auditLog.subjectId, id)).orderBy(desc(auditLog.id)).limit(1),
      );
      expect([name, entry?.reason]).toEqual([name, text.trim()]);
      const timeline = await caller.get(`/v1/orders/${id}/timeline?limit=100`);
      expect(timeline.text).toContain(JSON.stringify(text.trim()).slice(1, -1));
      kept.push(name);
    }
    expect(kept.length).toBeGreaterThan(6);
  });
});
