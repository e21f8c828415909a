import { and, eq, isNotNull } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { events } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const readiness = z.object({
  checks: z.record(z.string(), z.object({ ok: z.boolean() })),
  degraded: z.array(z.object({ condition: z.string() })),
});

const temporal = disposedAtEnd(await startOwnTemporal());
const stack = disposedAtEnd(await startStack({ temporal }));
const desk = new OrderDesk(stack);
afterAll(() => temporal.thaw());

const workerUrl = (path: string) => `http://127.0.0.1:${stack.environments.worker['WORKER_PROBE_PORT']}${path}`;
const unreachableSeconds = async () => {
  const metrics = await (await fetch(workerUrl('/metrics'))).text();
  const [, seconds] = /^reseller_temporal_unreachable_seconds (\S+)$/m.exec(metrics) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
};
const ready = async (url: string) => readiness.parse(await (await fetch(url)).json());

describe('a Temporal that accepts calls and answers none', () => {
  it('is reported by probes and metrics, delays no event, and does not prevent a worker from stopping', async () => {
    await desk.reaches(await desk.place(PACKAGE.completedAtOnce), 'completed');

    temporal.freeze();
    const waiting = await desk.place(PACKAGE.completedAtOnce);
    await waitFor('the event of an order that was accepted meanwhile is published', async () => {
      const condition = and(eq(events.subjectId, waiting), isNotNull(events.position));
      return (await stack.database.run((db) => db.select().from(events).where(condition))).length > 0;
    });
    await waitFor(
      'the worker is not ready',
      async () => (await ready(workerUrl('/readyz'))).checks['temporal']?.ok === false,
    );
    expect(await unreachableSeconds()).toBeGreaterThanOrEqual(5);
    const degraded = await waitFor('the API names the queue', async () => {
      const answer = readiness.parse(JSON.parse((await stack.api.get('/readyz')).text));
      return answer.degraded.find(({ condition }) => condition === 'relay_behind_outbox');
    });
    expect(degraded).toBeDefined();

    // Throws if the worker must be killed after 30 s, the usual limit of a container.
    await stack.process('worker').stop();

    const starting = stack.start('worker');
    await waitFor('a worker that starts meanwhile counts the silence', async () => {
      return ((await unreachableSeconds().catch(() => undefined)) ?? 0) >= 5;
    });

    temporal.thaw();
    await starting;
    await waitFor('the silence has ended', async () => (await unreachableSeconds()) === 0);
    await desk.reaches(waiting, 'completed');
    await desk.checkBooks();
  });
});
