import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { identityOf, isRunning, type ProcessIdentity, sendSignal } from '#cli/embedded/child.ts';
import { codeOf, UserError, messageOf } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/**
 * Which installation a command works on:
 * 1. the `npm start` that runs on the folder of --data;
 * 2. without --data: the installation that the environment variables name;
 * 3. without such variables: the `npm start` that runs on `.data`.
 */

export const DEFAULT_FOLDER = '.data';

/** Each names an installation, or the service of one. */
const ADDRESSES = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'DATABASE_DIRECT_URL',
  'DATABASE_DIRECT_URL_FILE',
  'SERVICE_BASE_URL',
  'TEMPORAL_ADDRESS',
] as const;

/** @returns undefined when the environment variables apply. */
export function impliedFolder(environment: Environment): string | undefined {
  if (ADDRESSES.some((name) => (environment[name] ?? '') !== '')) return undefined;
  return isLocked(DEFAULT_FOLDER) ? DEFAULT_FOLDER : undefined;
}

const identity = z.object({ pid: z.int().positive(), startedAt: z.string().min(1) });
const schema = z.object({ owner: identity, children: z.array(identity) });

const LEFTOVER_GRACE_MS = 10_000;
const POLL_MS = 50;

/** Also records the started processes, so that the next start ends them if this one is killed. */
export class DataFolderLock {
  readonly #path: string;
  readonly #owner: ProcessIdentity;
  #children: ProcessIdentity[] = [];

  private constructor(path: string, owner: ProcessIdentity) {
    this.#path = path;
    this.#owner = owner;
  }

  /** @throws UserError when another run works on the folder. */
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

export function isLocked(dataDirectory: string): boolean {
  const lock = readLock(join(dataDirectory, 'lock.json'));
  return lock !== undefined && isRunning(lock.owner);
}

function readLock(path: string): z.output<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // No lock, or its writer was killed while it wrote.
    return undefined;
  }
}

/**
 * Another start may have replaced the lock: moving it shows which one was removed.
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

/** SIGTERM, then SIGKILL to the process groups of those that still run after the grace period. */
async function endAll(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const { pid } of processes) sendSignal(pid, 'SIGTERM');
  const deadline = Date.now() + LEFTOVER_GRACE_MS;
  while (processes.some(isRunning) && Date.now() < deadline) await delay(POLL_MS);
  for (const left of processes.filter(isRunning)) sendSignal(-left.pid, 'SIGKILL');
  while (processes.some(isRunning)) await delay(POLL_MS);
}

// A new PostgreSQL cluster, its log and the Temporal database take about 150 MB before the first order.
const DISK_NEEDED_BYTES = 300 * 1024 ** 2;

/** @throws UserError when the folder cannot be written, or the disk has too little space. */
export function prepareDataFolder(folder: string, freeBytes: (folder: string) => number = freeBytesOf): void {
  try {
    const made = mkdirSync(folder, { recursive: true });
    // Under root, PostgreSQL runs as another account: it must pass through the folder, but need not list it.
    if (made !== undefined) chmodSync(folder, 0o711);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw noSpace(folder, 0);
    throw new UserError(
      `The data folder ${folder} cannot be used: ${messageOf(error)}.`,
      'Make it writable for you, or name another folder with --data.',
      { cause: error },
    );
  }
  const free = freeBytes(folder);
  if (free < DISK_NEEDED_BYTES) throw noSpace(folder, free);
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function noSpace(folder: string, free: number): UserError {
  return new UserError(
    `There is too little disk space: ${Math.floor(free / 1024 ** 2)} MB are free for ${folder}, and about 300 MB ` +
      'are needed.',
    'Free some space, or name a folder on another disk with --data.',
  );
}

/** @returns undefined when it is no JSON. */
export function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
