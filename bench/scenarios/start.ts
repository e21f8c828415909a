import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ScenarioResult } from '#bench/results.ts';
import { measure } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { PORTS } from '#cli/start/settings.ts';

const ROUNDS = { full: 3, quick: 0 } as const;
const UP = 'Everything runs.';
const UP_WITHIN_MS = 120_000;

/**
 * `npm start` on an empty data folder. A quick run leaves it out: one start takes as long as all of its other parts.
 */
export async function measureStart(context: BenchContext): Promise<ScenarioResult[]> {
  const rounds = ROUNDS[context.mode];
  if (rounds === 0) return [];
  context.say(`start: ${rounds} times, each with an empty data folder`);
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) seconds.push(await startOnce(context));
  return [
    measure({
      id: 'start.first',
      measured:
        'npm start with an empty data folder and the Temporal server on this machine already: from the command to its ' +
        'summary, first order delivered',
      unit: 's',
      better: 'lower',
      values: seconds,
      limit: { of: 'value', bound: 'at_most', amount: 20, reason: 'What the project promises for a first start.' },
    }),
  ];
}

async function startOnce({ folder }: BenchContext): Promise<number> {
  const data = mkdtempSync(join(folder, 'start-'));
  const ports = await Promise.all(Object.values(PORTS).map(async ({ option }) => `--${option}=${await freePort()}`));
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const began = performance.now();
  const run = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../cli/reseller.mjs'), 'start', '--data', join(data, 'data'), ...ports],
    {
      cwd: join(import.meta.dirname, '../..'),
      env: { PATH, HOME, ...(XDG_CACHE_HOME !== undefined && { XDG_CACHE_HOME }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  // It stops what it has started when it is asked to, and only then.
  const stop = () => run.kill('SIGTERM');
  process.once('exit', stop);
  try {
    let output = '';
    const exited = new Promise<number | null>((resolve) => run.once('exit', resolve));
    const up = new Promise<void>((resolve) => {
      run.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes(UP)) resolve();
      });
    });
    const timer = setTimeout(stop, UP_WITHIN_MS);
    await Promise.race([
      up,
      exited.then((code) => Promise.reject(new Error(`start ended (${code}) before it was up\n${output}`))),
    ]);
    clearTimeout(timer);
    const seconds = (performance.now() - began) / 1_000;
    if (!output.includes('order.completed')) throw new Error(`start came up without a delivered order\n${output}`);
    stop();
    const code = await exited;
    if (code !== 0) throw new Error(`start did not stop in order (${code})\n${output}`);
    return seconds;
  } finally {
    process.off('exit', stop);
    rmSync(data, { recursive: true, force: true });
  }
}
