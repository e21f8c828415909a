/** Reads which tests name which statements of the specification, from the test files, without running them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

/** One test whose title ends with `[spec: …]`. */
export interface TaggedTest {
  /** Path relative to the project. */
  readonly file: string;
  /** The titles of its groups and its own, without the tag. */
  readonly title: string;
  /** Ids of statements as written; `area.*` is not resolved. */
  readonly ids: readonly string[];
}

export interface TagReading {
  readonly tests: readonly TaggedTest[];
  /** Tags that are not counted, each with the reason: in a skipped test, in the title of a group, outside titles. */
  readonly problems: readonly string[];
}

const TAG = / ?\[spec: ([^\]]*)\]/;
const ANY_TAG = /\[spec: /g;

/** Reads every `*.test.ts` below `test/`. @param root folder of the project. */
export function readTags(root: string): TagReading {
  const files = globSync('test/**/*.test.ts', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
  const readings = files.map((file) => tagsOf(file, readFileSync(join(root, file), 'utf8')));
  return { tests: readings.flatMap(({ tests }) => tests), problems: readings.flatMap(({ problems }) => problems) };
}

/** @param file the name to report. @throws Error when the source cannot be parsed. */
export function tagsOf(file: string, source: string): TagReading {
  const written = source.match(ANY_TAG)?.length ?? 0;
  if (written === 0) return { tests: [], problems: [] };
  const tests: TaggedTest[] = [];
  const problems: string[] = [];
  visit(parseSync(source, { syntax: 'typescript', target: 'es2024' }), [], (call, groups) => {
    const [, list] = TAG.exec(call.title) ?? [];
    if (list === undefined) return;
    const title = [...groups, call.title.replace(TAG, '')].join(' › ');
    if (call.kind === 'group') problems.push(`${file}: "${title}" is a group; its tests have to name what they cover`);
    else if (call.skipped) problems.push(`${file}: "${title}" does not run`);
    else tests.push({ file, title, ids: list.split(',').map((id) => id.trim()) });
  });
  const read = tests.length + problems.length;
  if (read !== written) problems.push(`${file}: ${written - read} tags stand outside of the titles of tests`);
  return { tests, problems };
}

/** The tests that name a statement. @param id of the statement. */
export function testsNaming(id: string, tests: readonly TaggedTest[]): TaggedTest[] {
  return tests.filter(({ ids }) => ids.some((written) => covers(written, id)));
}

/** True when a tag covers the statement. @param written an id, or `area.*`. */
export function covers(written: string, id: string): boolean {
  return written === id || (written.endsWith('.*') && id.startsWith(written.slice(0, -1)));
}

interface TestCall {
  readonly kind: 'test' | 'group';
  readonly title: string;
  readonly skipped: boolean;
}

interface SyntaxNode {
  readonly type?: string;
  readonly [field: string]: unknown;
}

type Found = (call: TestCall, groups: readonly string[]) => void;

function visit(node: unknown, groups: readonly string[], found: Found): void {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, groups, found);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const call = testCall(node as SyntaxNode);
  if (call !== undefined) found(call, groups);
  const inside = call?.kind === 'group' ? [...groups, call.title] : groups;
  for (const child of Object.values(node)) visit(child, inside, found);
}

/** `it('title', …)`, `it.each(…)('title', …)`, and the same of `test` and `describe`. */
function testCall(node: SyntaxNode): TestCall | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const names = calleeNames(node['callee']);
  const kind = { it: 'test', test: 'test', describe: 'group' }[names[0] ?? ''] as TestCall['kind'] | undefined;
  const [first] = node['arguments'] as { readonly expression: SyntaxNode }[];
  const title = first === undefined ? undefined : textOf(first.expression);
  if (kind === undefined || title === undefined) return undefined;
  return { kind, title, skipped: names.includes('skip') || names.includes('todo') };
}

/** `it.each(…)` gives `it`, `each`; empty when the call does not begin with a plain name. */
function calleeNames(callee: unknown): string[] {
  const node = callee as SyntaxNode;
  switch (node.type) {
    case 'Identifier':
      return [String(node['value'])];
    case 'MemberExpression': {
      const names = calleeNames(node['object']);
      return names.length === 0 ? [] : [...names, String((node['property'] as SyntaxNode)['value'])];
    }
    case 'CallExpression':
      return calleeNames(node['callee']);
    // it.each<Row>([…])(…)
    case 'TsInstantiation':
      return calleeNames(node['expression']);
    default:
      return [];
  }
}

/** The text of a string, or of a template with `…` for its placeholders. */
function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'StringLiteral') return String(node['value']);
  if (node.type !== 'TemplateLiteral') return undefined;
  return (node['quasis'] as { readonly cooked?: string; readonly raw: string }[])
    .map(({ cooked, raw }) => cooked ?? raw)
    .join('…');
}
