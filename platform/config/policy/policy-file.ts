import { readFileSync } from 'node:fs';
import { isMap, isSeq, LineCounter, parseDocument, type Document, type Node, type YAMLParseError } from 'yaml';
import type * as z from 'zod';
import { ConfigurationError, type ConfigurationProblem, type Place, plainError } from '#config/configuration-error.ts';
import { presentOf, type Environment } from '#config/environment.ts';
import { partsOf, policySchema, SETTING_SCHEMAS, unknownInRules } from '#config/policy/policy-schema.ts';
import { unreadableText } from '#config/secret-files.ts';
import { type Policy, POLICY_GROUPS } from '#domain/policy/policy.ts';
import { changedLetters, nearNames } from '#domain/text.ts';

interface PolicyFile {
  readonly policy: Policy;
  readonly set: ReadonlyMap<string, SetValue>;
}

export const SETTING_NAMES: readonly string[] = [...SETTING_SCHEMAS.keys()];

interface SetValue {
  readonly value: unknown;
  readonly place: Place;
}

/** The defaults without POLICY_FILE. @throws ConfigurationError with every problem, also for variables `POLICY_…`. */
export function readPolicy(environment: Environment): PolicyFile {
  const { POLICY_FILE: path, ...others } = presentOf(environment);
  const misplaced = Object.keys(others).filter((name) => name.startsWith('POLICY_'));
  if (misplaced.length > 0)
    throw new ConfigurationError(misplaced.map((name) => ({ name, message: notInEnvironment(name) })));
  return path === undefined ? { policy: policySchema.parse({}), set: new Map() } : readPolicyFile(path);
}

/** @throws ConfigurationError with every problem. */
export function readPolicyFile(path: string): PolicyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError([{ name: 'POLICY_FILE', message: `the file ${path} ${unreadableText(error)}` }]);
  }
  return parsePolicyFile(text, path);
}

/** @param path for messages. @throws ConfigurationError with every problem. */
export function parsePolicyFile(text: string, path: string): PolicyFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, stringKeys: true });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { file: path, line, column: col };
  };
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0)
    throw new ConfigurationError(
      syntax.map((error) => ({ name: '', message: syntaxMessage(error), place: placeAt(error.pos[0]) })),
    );
  const result = policySchema.safeParse(withoutEmptyGroups(contentOf(document, placeAt(0))), { error: plainError });
  if (!result.success) {
    const problems = result.error.issues.flatMap((issue) => problemsOf(issue, document, placeAt));
    throw new ConfigurationError(problems, 'policy.example.yaml');
  }
  return { policy: result.data, set: valuesOf(document, placeAt) };
}

/** @throws ConfigurationError for aliases that would fill the memory. */
function contentOf(document: Document, place: Place): unknown {
  try {
    return document.toJS() as unknown;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isTooMuch = message.startsWith('Excessive alias count');
    throw new ConfigurationError([
      { name: '', message: isTooMuch ? 'aliases repeat other parts of the file too often' : message, place },
    ]);
  }
}

function syntaxMessage({ code, message }: Pick<YAMLParseError, 'code' | 'message'>): string {
  if (code === 'MULTIPLE_DOCS') return 'a policy file has one document: remove the second `---` and what follows it';
  return message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}

/** Null is a group whose settings are all commented out. */
function withoutEmptyGroups(file: unknown): unknown {
  if (file === null) return {};
  if (typeof file !== 'object' || Array.isArray(file)) return file;
  return Object.fromEntries(Object.entries(file).filter(([, group]) => group !== null));
}

type PlaceAt = (offset: number) => Place;

function problemsOf(issue: z.core.$ZodIssue, document: Document, placeAt: PlaceAt): ConfigurationProblem[] {
  const { path } = issue;
  const at = (full: readonly PropertyKey[], part: 'name' | 'value') => placeAt(offsetOf(document, full, part));
  if (issue.code !== 'unrecognized_keys')
    return [{ name: path.join('.'), message: issue.message, place: at(path, 'value') }];
  return issue.keys.map((key) => {
    const full = [...path, key];
    return { name: full.join('.'), message: unknownName(path, key), place: at(full, 'name') };
  });
}

function unknownName(path: readonly PropertyKey[], name: string): string {
  const inRules = path[0] === 'retry' && path[1] === 'rules' ? unknownInRules(path.slice(2), name) : undefined;
  if (inRules !== undefined) return inRules;
  const known = knownNames(path);
  const elsewhere = SETTING_NAMES.find((full) => full.endsWith(`.${name}`) && !known.includes(name));
  const [near] = nearNames(name, known).toSorted((a, b) => changedLetters(a, name) - changedLetters(b, name));
  const meant = near !== undefined && changedLetters(near, name) <= 2 ? near : (elsewhere ?? near);
  const hint = meant === undefined ? `names here are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `is not a setting; ${hint}`;
}

function knownNames([group, setting]: readonly PropertyKey[]): string[] {
  if (group === undefined) return Object.keys(POLICY_GROUPS);
  if (setting !== undefined) return ['attempts', 'first_delay', 'max_delay', 'total'];
  return SETTING_NAMES.map(partsOf).flatMap(([of, name]) => (of === group ? [name] : []));
}

function notInEnvironment(variable: string): string {
  const name = variable.slice('POLICY_'.length).toLowerCase();
  const meant =
    SETTING_NAMES.find((full) => full.replace('.', '_').endsWith(name)) ?? nearNames(name, SETTING_NAMES)[0];
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `is not a variable of this program: the policy is in the file that POLICY_FILE names${hint}`;
}

function offsetOf(document: Document, path: readonly PropertyKey[], part: 'name' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [index, key] of path.entries()) {
    const found = childOf(node, key);
    if (found === undefined) break;
    const isLast = index === path.length - 1;
    offset = isLast && part === 'value' ? (startOf(found.value) ?? startOf(found.name)) : startOf(found.name);
    node = found.value;
  }
  return offset ?? 0;
}

function childOf(node: unknown, key: PropertyKey): { name: unknown; value: unknown } | undefined {
  if (isSeq(node)) return { name: node.items[Number(key)], value: node.items[Number(key)] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key: name }) => String(name) === String(key));
  return pair === undefined ? undefined : { name: pair.key, value: pair.value };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function valuesOf(document: Document, placeAt: PlaceAt): ReadonlyMap<string, SetValue> {
  const file = document.toJS() as Readonly<Record<string, Readonly<Record<string, unknown>> | null>> | null;
  const set = SETTING_NAMES.flatMap((name) => {
    const path = partsOf(name);
    const value = file?.[path[0]]?.[path[1]];
    return value === undefined ? [] : [[name, { value, place: placeAt(offsetOf(document, path, 'name')) }] as const];
  });
  return new Map(set);
}
