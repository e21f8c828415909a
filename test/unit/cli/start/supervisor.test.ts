import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Child } from '#cli/embedded/child.ts';
import type { ProcessIdentity } from '#cli/embedded/process-identity.ts';
import type { Part } from '#cli/start/part.ts';
import { Supervisor } from '#cli/start/supervisor.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('supervisor');
});
afterAll(() => removeFolder(folder));

/** A part that runs `sleep`, or at its n-th start the n-th of the given programs. */
class SleepingPart implements Part {
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
    this.child = new Child({
      name: this.name,
      command,
      args,
      environment: { PATH: process.env['PATH'] },
      logFile: join(folder, this.name),
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped.push(this.name);
    await this.child?.stop(5_000);
    this.child = undefined;
  }
}

function supervise(parts: Part[]) {
  const events: string[] = [];
  const started: ProcessIdentity[] = [];
  const unusable: Error[] = [];
  const supervisor = new Supervisor({
    parts: () => parts,
    onStarted: (child) => started.push(child),
    onEvent: (text) => events.push(text),
    onUnusable: (error) => unusable.push(error),
    restartDelayMs: 5,
  });
  return { supervisor, events, started, unusable };
}

describe('the supervisor', () => {
  it('stops what runs in the given order, whatever the order of starting', async () => {
    const stopped: string[] = [];
    const [first, second, never] = ['first', 'second', 'never'].map((name) => new SleepingPart(name, stopped));
    const { supervisor, started } = supervise([first!, never!, second!]);
    await supervisor.start(second!);
    await supervisor.start(first!);
    await supervisor.stopAll();
    expect(stopped).toEqual(['first', 'second']);
    expect(started).toHaveLength(2);
  });

  it('starts a part again that ends by itself, and says so', async () => {
    const part = new SleepingPart('part', [], [['false']]);
    const { supervisor, events, started } = supervise([part]);
    await supervisor.start(part);
    await waitFor('the part runs again', () => events.includes('part runs again'));
    expect(events[0]).toBe('part ended with exit code 1; restarting it in 0.005 s');
    expect(started).toHaveLength(2);
    await supervisor.stopAll();
    expect(part.starts).toBe(2);
  });

  it('waits longer each time', async () => {
    const part = new SleepingPart('part', [], [['false'], ['false'], ['false']]);
    const { supervisor, events } = supervise([part]);
    await supervisor.start(part);
    await waitFor('the fourth start', () => part.starts === 4 && events.length === 6);
    expect(events.filter((text) => text.includes('starting')).map((text) => /in (\S+) s/.exec(text)?.[1])).toEqual([
      '0.005',
      '0.01',
      '0.02',
    ]);
    await supervisor.stopAll();
  });

  it('gives up on a part that refuses its configuration', async () => {
    const part = new SleepingPart('part', [], [['sh', '-c', 'exit 78']]);
    const { supervisor, unusable, events } = supervise([part]);
    await supervisor.start(part);
    await waitFor('it is given up', () => unusable.length === 1);
    expect(part.starts).toBe(1);
    expect(events).toEqual([]);
    await supervisor.stopAll();
  });

  it('starts nothing once it stops', async () => {
    const part = new SleepingPart('part');
    const { supervisor } = supervise([part]);
    await supervisor.stopAll();
    await expect(supervisor.start(part)).rejects.toThrow('aborted');
    expect(part.starts).toBe(0);
  });

  it('ends everything at once when asked to', async () => {
    const parts = [new SleepingPart('one'), new SleepingPart('two')];
    const { supervisor } = supervise(parts);
    await Promise.all(parts.map((part) => supervisor.start(part)));
    const children = parts.map(({ child }) => child!);
    supervisor.killAll();
    expect(await Promise.all(children.map(({ exited }) => exited))).toEqual([
      { code: null, signal: 'SIGKILL' },
      { code: null, signal: 'SIGKILL' },
    ]);
  });
});
