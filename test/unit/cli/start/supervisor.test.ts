import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Child, identityOf, isRunning, type ProcessIdentity } from '#cli/embedded/child.ts';
import { type ManagedProcess, Supervisor } from '#cli/start/supervisor.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const folder = temporaryFolder('supervisor');

function childOf(name: string, command: string, args: readonly string[]): Child {
  const environment = { PATH: process.env['PATH'] };
  return new Child({ name, command, args, environment, logFile: join(folder, `${name}.log`) });
}

/** A process that runs `sleep`, or at its n-th start the n-th of the given programs. */
class SleepingProcess implements ManagedProcess {
  readonly name: string;
  readonly #stopped: string[];
  readonly #programs: string[][];
  starts = 0;
  child: Child | undefined;

  constructor(name: string, stopped: string[] = [], programs: string[][] = []) {
    this.name = name;
    this.#stopped = stopped;
    this.#programs = programs;
  }

  async start(): Promise<void> {
    const [command = 'sleep', ...args] = this.#programs[this.starts] ?? ['sleep', '600'];
    this.starts += 1;
    this.child = childOf(this.name, command, args);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped.push(this.name);
    await this.child?.stop(5_000);
    this.child = undefined;
  }
}

function supervise(processes: ManagedProcess[]) {
  const events: string[] = [];
  const started: ProcessIdentity[] = [];
  const unusable: Error[] = [];
  const supervisor = new Supervisor({
    processes: () => processes,
    onStarted: (child) => started.push(child),
    onEvent: (text) => events.push(text),
    onUnusable: (error) => unusable.push(error),
    restartDelayMs: 5,
  });
  return { supervisor, events, started, unusable };
}

describe('the supervisor', () => {
  it('stops processes in the given order, independent of the order of their starts', async () => {
    const stopped: string[] = [];
    const [first, second, never] = ['first', 'second', 'never'].map((name) => new SleepingProcess(name, stopped));
    const { supervisor, started } = supervise([first!, never!, second!]);
    await supervisor.start(second!);
    await supervisor.start(first!);
    await supervisor.stopAll();
    expect(stopped).toEqual(['first', 'second']);
    expect(started).toHaveLength(2);
  });

  it('restarts a process that ends by itself, and reports it', async () => {
    const target = new SleepingProcess('process', [], [['false']]);
    const { supervisor, events, started } = supervise([target]);
    await supervisor.start(target);
    await waitFor('the process runs again', () => events.includes('process runs again'));
    expect(events[0]).toBe('process ended with exit code 1; restarting it in 0.005 s');
    expect(started).toHaveLength(2);
    await supervisor.stopAll();
    expect(target.starts).toBe(2);
  });

  it('gives up on a process that refuses its configuration', async () => {
    const target = new SleepingProcess('process', [], [['sh', '-c', 'exit 78']]);
    const { supervisor, unusable, events } = supervise([target]);
    await supervisor.start(target);
    await waitFor('it is given up', () => unusable.length === 1);
    expect(target.starts).toBe(1);
    expect(events).toEqual([]);
    await supervisor.stopAll();
  });
});

const nodeChild = (name: string, code: string) => childOf(name, process.execPath, ['--eval', code]);
const printed = (child: Child, text: string) =>
  waitFor(`${child.name} prints ${text}`, () => child.tail().includes(text));

describe('a child process', () => {
  it('gets SIGTERM before SIGKILL', async () => {
    const child = nodeChild(
      'polite',
      'process.on("SIGTERM", () => { console.log("bye"); process.exit(7) }); ' +
        'setInterval(() => 0, 1000); console.log("up")',
    );
    await printed(child, 'up');
    expect(await child.stop(20_000)).toEqual({ code: 7, signal: null });
    expect(child.tail()).toContain('bye');
  });

  it('leaves no child processes when it ends by itself', async () => {
    const child = nodeChild(
      'parent',
      'process.on("SIGUSR2", () => process.exit(0)); ' +
        'const { pid } = require("node:child_process").spawn("sleep", ["600"]); ' +
        'console.log("pid", pid); setTimeout(() => process.exit(1), 100_000)',
    );
    await printed(child, 'pid');
    const grandchild = identityOf(Number(/pid (\d+)/.exec(child.tail())?.[1]));
    expect(grandchild).toBeDefined();
    // It ends by itself, after the test knows its child process.
    child.signal('SIGUSR2');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await waitFor('the grandchild has ended', () => !isRunning(grandchild!));
  });
});
