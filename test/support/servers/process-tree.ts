/** Sends a signal to a process and all its descendants, for servers with several processes. */
import { execFileSync } from 'node:child_process';
import { sendSignal } from '#cli/embedded/child.ts';

export function signalTree(pid: number, signal: NodeJS.Signals): void {
  // A stopped process starts no children during the count.
  if (signal === 'SIGSTOP') sendSignal(pid, signal);
  // List all before the first one ends, because the children of an ended process get another parent.
  for (const member of [pid, ...descendantsOf(pid)]) sendSignal(member, signal);
}

/** The process ids of all descendants of a process. */
export function descendantsOf(pid: number): number[] {
  const pairs = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    pairs.flatMap(([child, of]) => (of === parent && child !== undefined ? [child, ...below(child)] : []));
  return below(pid);
}
