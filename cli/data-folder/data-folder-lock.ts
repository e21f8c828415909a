import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
 * Allows one `reseller start` at a time on a data folder. Records the processes that it started, so that the next
 * start finds and ends them if this one is killed.
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
   * @param onLeftovers receives the number of processes of a killed run, before they are stopped.
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
    removeDeadLock(dataDirectory, path);
    const lock = new DataFolderLock(path, owner);
    const complete = `${path}.${process.pid}`;
    writeFileSync(complete, lock.#text(), { mode: 0o600 });
    try {
      // A link is atomic, and fails if another start has created the lock meanwhile.
      linkSync(complete, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      throw alreadyRunning(dataDirectory, readLock(path)?.owner.pid ?? 0);
    } finally {
      rmSync(complete, { force: true });
    }
    return lock;
  }

  /** Records a child process, and removes those that have ended. */
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

/** Whether a `reseller start` is running on the folder. */
export function isLocked(dataDirectory: string): boolean {
  const lock = readLock(join(dataDirectory, 'lock.json'));
  return lock !== undefined && isRunning(lock.owner);
}

function readLock(path: string): z.output<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // There is no lock, or its writer was killed while it wrote.
    return undefined;
  }
}

/**
 * Removes the lock of a start that was killed. Another start may have replaced it meanwhile: moving it to a name of our
 * own shows which one was removed.
 * @throws UserError when it is the lock of a running start.
 */
function removeDeadLock(dataDirectory: string, path: string): void {
  const moved = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, moved);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const found = readLock(moved);
  const isDead = found === undefined || !isRunning(found.owner);
  try {
    if (!isDead) linkSync(moved, path);
  } catch (error) {
    // Its owner has written it again meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(moved, { force: true });
  }
  if (!isDead) throw alreadyRunning(dataDirectory, found.owner.pid);
}

function alreadyRunning(dataDirectory: string, pid: number): UserError {
  return new UserError(
    `Another start works on ${dataDirectory} already (process ${pid}).`,
    'Use that one, stop it first with Ctrl-C in its terminal, or name another folder with --data.',
  );
}

/** Sends SIGTERM, and SIGKILL to the process groups of those that still run after the grace period. */
async function endAll(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const { pid } of processes) sendSignal(pid, 'SIGTERM');
  const deadline = Date.now() + LEFTOVER_GRACE_MS;
  while (processes.some(isRunning) && Date.now() < deadline) await delay(POLL_MS);
  for (const left of processes.filter(isRunning)) sendSignal(-left.pid, 'SIGKILL');
  while (processes.some(isRunning)) await delay(POLL_MS);
}
