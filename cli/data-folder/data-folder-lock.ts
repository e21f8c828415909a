import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { identityOf, isRunning, type ProcessIdentity, sendSignal } from '#cli/embedded/process-identity.ts';
import { codeOf, UserError } from '#cli/terminal/user-error.ts';

const identity = z.object({ pid: z.int().positive(), startedAt: z.string().min(1) });
const schema = z.object({ owner: identity, children: z.array(identity) });

const LEFTOVER_GRACE_MS = 10_000;
const POLL_MS = 50;

/**
 * Makes sure that one `reseller start` at a time works on a data folder, and writes down which processes it has
 * started: when it is killed, the next one finds and ends them.
 */
export class DataFolderLock {
  readonly #path: string;
  readonly #owner: ProcessIdentity;
  #children: ProcessIdentity[] = [];

  private constructor(path: string, owner: ProcessIdentity) {
    this.#path = path;
    this.#owner = owner;
  }

  /**
   * @param onLeftovers told how many processes of a killed run are being stopped.
   * @throws UserError when another run works on the folder.
   */
  static async acquire(dataDirectory: string, onLeftovers: (count: number) => void): Promise<DataFolderLock> {
    const path = join(dataDirectory, 'lock.json');
    const owner = identityOf(process.pid);
    if (owner === undefined) throw new Error('this process cannot find itself in the process list');
    const previous = readLock(path);
    if (previous !== undefined && isRunning(previous.owner)) throw alreadyRunning(dataDirectory, previous.owner.pid);
    const leftovers = previous?.children.filter(isRunning) ?? [];
    if (leftovers.length > 0) {
      onLeftovers(leftovers.length);
      await endAll(leftovers);
    }
    rmSync(path, { force: true });
    const lock = new DataFolderLock(path, owner);
    const complete = `${path}.${process.pid}`;
    writeFileSync(complete, lock.#text(), { mode: 0o600 });
    try {
      // Unlike a write, a link appears whole or not at all, and not where another start was a moment quicker.
      linkSync(complete, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      throw alreadyRunning(dataDirectory, readLock(path)?.owner.pid ?? 0);
    } finally {
      rmSync(complete, { force: true });
    }
    return lock;
  }

  /** Writes down a child; ones that have ended are forgotten. */
  addChild(child: ProcessIdentity): void {
    this.#children = [...this.#children.filter(isRunning), child];
    writeSecretFile(this.#path, this.#text());
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }

  #text(): string {
    return `${JSON.stringify({ owner: this.#owner, children: this.#children })}\n`;
  }
}

/** Does a `reseller start` work on the folder at this moment? */
export function isLocked(dataDirectory: string): boolean {
  const lock = readLock(join(dataDirectory, 'lock.json'));
  return lock !== undefined && isRunning(lock.owner);
}

function readLock(path: string): z.output<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // None, or cut off while it was written: whoever wrote it has ended.
    return undefined;
  }
}

function alreadyRunning(dataDirectory: string, pid: number): UserError {
  return new UserError(
    `Another start works on ${dataDirectory} already (process ${pid}).`,
    'Use that one, stop it first with Ctrl-C in its terminal, or name another folder with --data.',
  );
}

/** SIGTERM, and for those that do not heed it SIGKILL; each leads a process group of its own. */
async function endAll(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const { pid } of processes) sendSignal(pid, 'SIGTERM');
  const deadline = Date.now() + LEFTOVER_GRACE_MS;
  while (processes.some(isRunning) && Date.now() < deadline) await delay(POLL_MS);
  for (const left of processes.filter(isRunning)) sendSignal(-left.pid, 'SIGKILL');
  while (processes.some(isRunning)) await delay(POLL_MS);
}
