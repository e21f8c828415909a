import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Child, identityOf, isRunning } from '#cli/embedded/child.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const folder = temporaryFolder('child');

function nodeChild(name: string, code: string): Child {
  return new Child({
    name,
    command: process.execPath,
    args: ['--eval', code],
    environment: { PATH: process.env['PATH'] },
    logFile: join(folder, `${name}.log`),
  });
}

async function printed(child: Child, text: string): Promise<void> {
  await waitFor(`${child.name} prints ${text}`, () => child.tail().includes(text));
}

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
