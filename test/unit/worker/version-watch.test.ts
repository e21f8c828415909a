import { describe, expect, it } from 'vitest';
import { createLogger } from '#telemetry/logger.ts';
import { idleProblem, workShare, type Routing } from '#temporal/worker-versions.ts';
import { VersionWatch } from '#worker/health.ts';

const A = { deploymentName: 'shop', buildId: 'a' };
const B = { deploymentName: 'shop', buildId: 'b' };
const NOTHING: Routing = { current: undefined, ramping: undefined };

/** A watch of `own` on a sequence of routings, and the lines that it logged. */
function watch(own: typeof A | undefined, ...answers: (Routing | Error)[]) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', name: 'test' }, { write: (line: string) => void lines.push(line) });
  const read = async () => {
    const next = answers.shift() ?? NOTHING;
    if (next instanceof Error) throw next;
    return next;
  };
  return { watched: new VersionWatch({ own, read, policy: { everyMs: 1, deadlineMs: 1_000 }, logger }), lines };
}

describe('the share of work of a version', () => {
  it.each([
    [undefined, NOTHING, 'all'],
    [undefined, { ...NOTHING, current: A }, 'none'],
    [A, NOTHING, 'no_current'],
    [A, { ...NOTHING, current: A }, 'current'],
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
});

describe('the watch of the version', () => {
  it('reports workers without work until a version is current, and logs each change once', async () => {
    const current = { ...NOTHING, current: A };
    const { watched, lines } = watch(A, NOTHING, NOTHING, current);
    await watched.look();
    await watched.look();
    expect(watched.degraded).toEqual([
      { condition: 'no_work_for_workers', detail: expect.stringContaining('set-current a --name shop') },
    ]);
    await watched.look();
    expect(watched.degraded).toEqual([]);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'no version of shop is current, so only workers without a version get work',
      'the version of these workers is current: new runs begin here',
    ]);
  });
});
