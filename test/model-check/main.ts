/** `npm run test:model`. The search and its output are explained in `docs/crash-proof.md`. */
import { parseArgs } from 'node:util';
import { BOUNDS, DIALECTS, type BoundName, type DialectName } from '#test/model-check/dialects.ts';
import { CAN_CONTINUE, explore, type Counterexample, type Search } from '#test/model-check/engine.ts';
import { INVARIANTS, machineOf } from '#test/model-check/machine.ts';
import { exploreOldRule, OLD_RULES, type OldRuleName } from '#test/model-check/old-rules.ts';
import { RULES } from '#test/model-check/rules.ts';
import type { Budget } from '#test/model-check/state.ts';

const { values: options } = parseArgs({
  options: {
    'old-rule': { type: 'string' },
    dialect: { type: 'string' },
    bound: { type: 'string' },
    // Number of states of one search.
    limit: { type: 'string', default: '40000' },
  },
});
const limit = Number(options.limit);
/** Minimum number of states for the detection of every old rule. */
const LEAST_FOR_A_RULE = 100_000;

process.exitCode = options['old-rule'] === undefined ? searchAll() : showOldRule(options['old-rule']);

/** @returns the exit code: 1 if an invariant is broken. */
function searchAll(): number {
  const dialects = chosen<DialectName>(DIALECTS, options.dialect);
  const bounds = chosen<BoundName>(BOUNDS, options.bound);
  for (const name of bounds) print(`bound ${name}: ${bounded(BOUNDS[name])}`);
  const began = Date.now();
  const totals = { states: 0, transitions: 0, broken: 0 };
  for (const bound of bounds) {
    for (const dialect of dialects) {
      const start = Date.now();
      const search = explore(machineOf(RULES, DIALECTS[dialect], BOUNDS[bound]), limit);
      totals.states += search.states;
      totals.transitions += search.transitions;
      print(`${bound}, ${dialect}: ${sizes(search)}, ${seconds(start)}`);
      if (search.counterexample === undefined) continue;
      totals.broken += 1;
      printTrace(search.counterexample);
    }
  }
  for (const invariant of [...Object.values(INVARIANTS), CAN_CONTINUE]) print(`checked: ${invariant}`);
  const result = totals.broken === 0 ? 'no invariant is broken' : `${totals.broken} searches broke an invariant`;
  print(`${totals.states} states, ${totals.transitions} transitions, ${seconds(began)}: ${result}`);
  return totals.broken === 0 ? 0 : 1;
}

/** @returns the exit code: 1 if the rule is detected, as it must be; 2 if not. */
function showOldRule(name: string): number {
  const [found] = chosen<OldRuleName>(OLD_RULES, name);
  if (found === undefined) return 2;
  const { meaning, dialect, budget } = OLD_RULES[found];
  const start = Date.now();
  const search = exploreOldRule(found, Math.max(limit, LEAST_FOR_A_RULE));
  print(`${found}: ${meaning}`);
  print(`service ${dialect}; ${bounded(budget)}; ${sizes(search)}, ${seconds(start)}`);
  if (search.counterexample === undefined) {
    print('No invariant is broken: the model does not detect the rule.');
    return 2;
  }
  printTrace(search.counterexample);
  return 1;
}

function chosen<Name extends string>(table: Readonly<Record<Name, unknown>>, name: string | undefined): Name[] {
  const all = Object.keys(table) as Name[];
  const found = name === undefined ? all : all.filter((each) => each === name);
  if (found.length === 0) print(`There is no ${name}; there are: ${all.join(', ')}.`);
  return found;
}

function bounded(budget: Budget): string {
  return Object.entries(budget)
    .map(([name, most]) => `${most} ${name}`)
    .join(', ');
}

function sizes({ states, transitions, depth, isComplete }: Search): string {
  return `${states} states, ${transitions} transitions, depth ${depth}, ${isComplete ? 'complete' : 'stopped there'}`;
}

function printTrace({ invariant, trace }: Counterexample): void {
  print(`Broken: ${invariant}.`);
  for (const [index, sentence] of trace.entries())
    print(`${String(index + 1).padStart(4)}. ${sentence[0]?.toUpperCase()}${sentence.slice(1)}.`);
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1_000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
