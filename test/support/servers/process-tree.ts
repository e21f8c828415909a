/** Signals to a process and all that descend from it, for servers that are more than one process. */
import { execFileSync } from 'node:child_process';
import { sendSignal } from '#cli/embedded/process-identity.ts';

export function signalTree(pid: number, signal: NodeJS.Signals): void {
  // A process that stands still starts no further ones while they are counted.
  if (signal === 'SIGSTOP') sendSignal(pid, signal);
  // All are known before the first one ends: children of a process that has ended have another parent.
  for (const member of [pid, ...descendantsOf(pid)]) sendSignal(member, signal);
}

function descendantsOf(pid: number): number[] {
  const pairs = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    pairs.flatMap(([child, of]) => (of === parent && child !== undefined ? [child, ...below(child)] : []));
  return below(pid);
}
