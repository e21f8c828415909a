import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DataFolderLock } from '#cli/data-folder/data-folder.ts';
import { Child, identityOf } from '#cli/embedded/child.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('lock')));

const quiet = () => undefined;
const lockFile = () => join(folder, 'lock.json');

function sleeper(): Child {
  return new Child({
    name: 'sleeper',
    command: 'sleep',
    args: ['600'],
    environment: { PATH: process.env['PATH'] },
    logFile: join(folder, 'log'),
  });
}

describe('the lock of a data folder', () => {
  it('allows one start at a time, and is free after it', async () => {
    const lock = await DataFolderLock.acquire(folder, quiet);
    expect(statSync(lockFile()).mode & 0o777).toBe(0o600);
    await expect(DataFolderLock.acquire(folder, quiet)).rejects.toThrow(`process ${process.pid}`);
    lock.release();
    expect(existsSync(lockFile())).toBe(false);
    (await DataFolderLock.acquire(folder, quiet)).release();
  });

  it('of a killed start is taken over, and its remaining processes are stopped', async () => {
    const [gone, left] = [sleeper(), sleeper()];
    await gone.kill();
    writeFileSync(lockFile(), JSON.stringify({ owner: gone.identity, children: [gone.identity, left.identity] }));
    const counts: number[] = [];
    const lock = await DataFolderLock.acquire(folder, (count) => counts.push(count));
    expect(counts).toEqual([1]);
    expect(await left.exited).toMatchObject({ signal: 'SIGTERM' });
    lock.release();
  });

  it('of a killed start is taken over by one of two starts at the same time', async () => {
    const [gone, left] = [sleeper(), sleeper()];
    await gone.kill();
    writeFileSync(lockFile(), JSON.stringify({ owner: gone.identity, children: [left.identity] }));
    const starts = await Promise.allSettled([
      DataFolderLock.acquire(folder, quiet),
      DataFolderLock.acquire(folder, quiet),
    ]);
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual(['lock.json']);
  });

  it('does not stop another process that now has the number of a remaining one', async () => {
    const innocent = sleeper();
    const another = { pid: innocent.identity!.pid, startedAt: 'at another time' };
    writeFileSync(lockFile(), JSON.stringify({ owner: another, children: [another] }));
    const lock = await DataFolderLock.acquire(folder, () => expect.unreachable());
    expect(identityOf(innocent.identity!.pid)).toEqual(innocent.identity);
    await innocent.kill();
    lock.release();
  });
});
