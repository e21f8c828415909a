import { describe, expect, it } from 'vitest';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { idleProblem, workShare, type Routing } from '#temporal/worker-versions.ts';
import { TemporalWatch } from '#worker/temporal-watch.ts';

const A = { deploymentName: 'shop', buildId: 'a' };
const B = { deploymentName: 'shop', buildId: 'b' };
const NOTHING: Routing = { current: undefined, ramping: undefined };
const CURRENT: Routing = { ...NOTHING, current: A };
const hangs = () => new Promise<never>(() => undefined);

/** A watch of `own` on these answers of Temporal, and the lines that it logged. */
function watch(own: typeof A | undefined, ask: () => Promise<Routing>) {
  const clock = { now: 1_000_000 };
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', name: 'test' }, { write: (line: string) => void lines.push(line) });
  const metrics = createMetrics({ processMetrics: false });
  const policy = { everyMs: 5_000, deadlineMs: 1, unreachableAfterMs: 15_000 };
  const watched = new TemporalWatch({ own, ask, policy, metrics, logger, now: () => clock.now });
  const silence = async () => (await metrics.temporalUnreachable.get()).values[0]?.value;
  const texts = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  return { watched, clock, silence, texts };
}

/** Answers one after the other. */
function answers(...list: (Routing | Error)[]): () => Promise<Routing> {
  return async () => {
    const next = list.shift() ?? NOTHING;
    if (next instanceof Error) throw next;
    return next;
  };
}

describe('the health check of Temporal', () => {
  it('fails after a long silence of Temporal, and not after one lost answer', async () => {
    const { watched, clock, silence } = watch(undefined, hangs);
    clock.now += 5_000;
    await watched.look();
    expect(() => watched.check()).not.toThrow();
    clock.now += 10_000;
    await watched.look();
    expect(() => watched.check()).toThrow('has not answered for 15 s (no answer within 1 ms)');
    expect(await silence()).toBe(15);
  });

  it('passes again with the first answer', async () => {
    const { watched, clock, silence } = watch(undefined, answers(new Error('down'), NOTHING));
    clock.now += 60_000;
    await watched.look();
    expect(() => watched.check()).toThrow('has not answered for 60 s (down)');
    await watched.look();
    expect(() => watched.check()).not.toThrow();
    expect(await silence()).toBe(0);
  });

  it('does not count time without calls', () => {
    const { watched, clock } = watch(undefined, answers());
    clock.now += 3_600_000;
    expect(() => watched.check()).not.toThrow();
  });

  it('stops at once during a call', async () => {
    const asked = Promise.withResolvers<void>();
    const { watched } = watch(undefined, () => {
      asked.resolve();
      return hangs();
    });
    watched.start();
    await asked.promise;
    await expect(watched.stop()).resolves.toBeUndefined();
  });
});

describe('the share of work of a version', () => {
  it.each([
    [undefined, NOTHING, 'all'],
    [undefined, CURRENT, 'none'],
    [A, NOTHING, 'no_current'],
    [A, CURRENT, 'current'],
    [A, { current: B, ramping: A }, 'ramping'],
    [A, { current: B, ramping: undefined }, 'own_runs'],
    [A, { current: undefined, ramping: A }, 'ramping'],
    [A, { ...NOTHING, current: { ...A, deploymentName: 'other' } }, 'other_deployment'],
  ] as const)('of %j with the routing %j is %s', (own, routing, share) => {
    expect(workShare(routing, own)).toBe(share);
    // An operator is told exactly when nothing new arrives by mistake.
    const mistakes = ['none', 'no_current', 'other_deployment'];
    expect(idleProblem(routing, own) !== undefined).toBe(mistakes.includes(share));
  });

  it('is reported as long as workers get none, logged once for each change, and kept while Temporal is silent', async () => {
    const { watched, texts } = watch(A, answers(NOTHING, NOTHING, new Error('down'), CURRENT));
    for (let look = 1; look <= 3; look += 1) await watched.look();
    expect(watched.degraded).toEqual([
      { condition: 'no_work_for_workers', detail: expect.stringContaining('set-current a --name shop') },
    ]);
    await watched.look();
    expect(watched.degraded).toEqual([]);
    expect(texts()).toEqual([
      'no version of shop is current, so only workers without a version get work',
      'Temporal does not answer; the worker tries again',
      'Temporal answers again',
      'the version of these workers is current: new runs begin here',
    ]);
  });

  it('of workers without versions is not mentioned, as long as they get the work', async () => {
    const { watched, texts } = watch(undefined, answers(NOTHING, CURRENT));
    // Before the first answer, no workflow may start in this process alone.
    expect(watched.share).toBeUndefined();
    await watched.look();
    expect([watched.share, watched.degraded, texts()]).toEqual(['all', [], []]);
    await watched.look();
    expect(watched.degraded[0]?.detail).toContain('workers without a version get no work');
  });
});
