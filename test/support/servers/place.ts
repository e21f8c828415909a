/** `reseller start` as a user runs it: a child process with output and signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isRunning, type ProcessIdentity, sendSignal } from '#cli/embedded/child.ts';
import { freePort, isPortFree } from '#cli/embedded/ports.ts';
import { PORTS, type PortName } from '#cli/start/settings.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { TestProcess } from '#test/support/servers/processes.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

export const UP = 'Everything runs.';
const lock = z.object({ children: z.array(z.object({ pid: z.number(), startedAt: z.string() })) });

/** A data folder with its own ports, and the starts that use it. */
export class Place {
  // Characters with a meaning in URIs, shells and settings of PostgreSQL.
  readonly data = join(temporaryFolder('start'), "a b#c?d%25'é");
  readonly ports: Readonly<Record<PortName, number>>;
  readonly #runs: TestProcess[] = [];

  private constructor(ports: Record<PortName, number>) {
    this.ports = ports;
  }

  static async make(): Promise<Place> {
    const names = Object.keys(PORTS) as PortName[];
    const ports = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
    return new Place(Object.fromEntries(ports) as Record<PortName, number>);
  }

  start(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): TestProcess {
    const ports = Object.entries(this.ports).map(([name, port]) => `--${PORTS[name as PortName].option}=${port}`);
    const run = new TestProcess({
      name: 'start',
      script: 'cli/reseller.mjs',
      args: ['start', '--data', this.data, ...ports, ...args],
      environment: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '', ...environment },
    });
    this.#runs.push(run);
    return run;
  }

  /** Runs another command, which knows only the data folder. */
  async command(args: readonly string[]): Promise<{ code: number | null; output: string }> {
    // Arguments after `--` belong to another program.
    const ours = args.includes('--') ? args.indexOf('--') : args.length;
    await using run = new TestProcess({
      name: 'command',
      script: 'cli/main.ts',
      args: args.toSpliced(ours, 0, '--data', this.data),
      environment: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '' },
    });
    const { code } = await run.exit();
    return { code, output: run.output() };
  }

  get api(): HttpClient {
    const key = readFileSync(join(this.data, 'dev-api-key'), 'utf8').trim();
    return new HttpClient(`http://127.0.0.1:${this.ports.api}`, { authorization: `Bearer ${key}` });
  }

  /** The processes that a start has recorded. */
  children(): ProcessIdentity[] {
    return lock.parse(JSON.parse(readFileSync(join(this.data, 'lock.json'), 'utf8'))).children;
  }

  async portsInUse(): Promise<number[]> {
    const ports = Object.values(this.ports);
    const free = await Promise.all(ports.map((port) => isPortFree(port)));
    return ports.filter((_, index) => free[index] !== true);
  }

  /** Ends the processes of a failed test. */
  async clear(): Promise<void> {
    let left: ProcessIdentity[] = [];
    try {
      left = this.children();
    } catch {
      // No lock, because the start ended normally.
    }
    await Promise.all(this.#runs.map((run) => run.kill()));
    for (const child of left.filter(isRunning)) sendSignal(-child.pid, 'SIGKILL');
    removeFolder(join(this.data, '..'));
  }
}

/** Waits until a start has printed a text. @throws Error if it ends without it. */
export async function says(run: TestProcess, text: string): Promise<void> {
  await waitFor(`start says ${JSON.stringify(text)}`, () => run.output().includes(text) || !run.running, {
    timeoutMs: 480_000,
    context: () => run.tail(),
  });
  if (!run.output().includes(text))
    throw new Error(`start ended without saying ${JSON.stringify(text)}\n${run.tail()}`);
}
