/** Linux only. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { sum } from '#bench/results.ts';
import type { Child } from '#cli/embedded/child.ts';

/** Children belong to their parent. */
export type Processes = Readonly<Record<string, Child | undefined>>;

export const canReadProcesses = process.platform === 'linux';

interface Stat {
  readonly parent: number;
  /** Includes children that have ended. */
  readonly ticks: number;
  readonly residentPages: number;
}

const ticksPerSecond = once(() => Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })));
const pageBytes = once(() => Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })));

/** Includes all descendants. Ticks have 10 ms: differences should be far longer. Empty where the system tells none. */
function cpuMs(processes: Processes): Record<string, number> {
  if (!canReadProcesses) return {};
  const all = readAll();
  const msOf = (root: Child | undefined) => (figureOf(root, all, 'ticks') / ticksPerSecond()) * 1_000;
  return Object.fromEntries(Object.entries(processes).map(([name, root]) => [name, msOf(root)]));
}

/** CPU milliseconds of each process. */
export async function cpuSpentBy<Result>(
  processes: Processes,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly cpu: Record<string, number> }> {
  const before = cpuMs(processes);
  const result = await work();
  const after = Object.entries(cpuMs(processes));
  return { result, cpu: Object.fromEntries(after.map(([name, ms]) => [name, ms - (before[name] ?? 0)])) };
}

function figureOf(root: Child | undefined, all: ReadonlyMap<number, Stat>, figure: 'ticks' | 'residentPages'): number {
  return sum(treeOf(root?.identity?.pid ?? 0, all).map((pid) => all.get(pid)?.[figure] ?? 0));
}

/** Includes all descendants; MB are 10^6 bytes. @throws Error where the system does not tell. */
export function residentMb(child: Child): number {
  if (!canReadProcesses) throw new Error('resident memory is read from /proc, which only Linux has');
  return (figureOf(child, readAll(), 'residentPages') * pageBytes()) / 1e6;
}

function readAll(): Map<number, Stat> {
  const all = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined;
    if (stat !== undefined) all.set(pid, stat);
  }
  return all;
}

function statOf(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may contain spaces and parentheses; the fields begin after its last one.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1] ?? 0, ticks: sum(fields.slice(11, 15)), residentPages: fields[21] ?? 0 };
  } catch {
    // It ended in between.
    return undefined;
  }
}

function treeOf(root: number, all: ReadonlyMap<number, Stat>): number[] {
  const children = [...all].filter(([, { parent }]) => parent === root).map(([pid]) => pid);
  return [root, ...children.flatMap((child) => treeOf(child, all))];
}

function once(read: () => number): () => number {
  let value: number | undefined;
  return () => (value ??= read());
}
