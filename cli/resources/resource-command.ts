/** Loading the API takes half a second, so a command gets its options when it is entered. */
import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiCall, optionOf } from '#cli/resources/call.ts';
import type { CallDefinition, Example, ResourceDefinition } from '#cli/resources/definition.ts';
import { entries, waitSeconds, withFormatOptions } from '#cli/terminal/options.ts';
import type { FormatOptions } from '#cli/terminal/print-items.ts';
import type { Environment } from '#config/environment.ts';

/** These parameters have another option (`--limit`) or none. */
const NOT_OPTIONS: ReadonlySet<string> = new Set(['limit', 'cursor']);
const DEFAULT_LIMIT = 20;

export interface CallOptions extends ApiOptions, FormatOptions {
  readonly limit?: number;
  readonly all?: boolean;
  /** `-` is the standard input. */
  readonly body?: string;
  readonly idempotencyKey?: string;
  /** `-` is the standard output. */
  readonly output?: string;
  /** Seconds. */
  readonly wait?: number;
}

const descriptions = new WeakMap<Command, () => Promise<void>>();

export function describeWhenEntered(command: Command, describe: () => Promise<void>): void {
  descriptions.set(command, describe);
}

export async function describe(command: Command): Promise<void> {
  const pending = descriptions.get(command);
  descriptions.delete(command);
  await pending?.();
  for (const each of command.commands) await describe(each);
}

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** A command with commands of its own is described only where its help is wanted. */
export function describeOnEntry(command: Command): void {
  command.hook('preSubcommand', async ({ args }, entered) => {
    const names = new Set(entered.commands.map((each) => each.name()));
    const first = args.find((each) => HELP.has(each) || names.has(each));
    if (first === undefined || HELP.has(first)) await describe(entered);
    else describeOnEntry(entered);
  });
}

export function addResource(
  program: Command,
  { command: name, about, commands }: ResourceDefinition,
  environment: Environment,
): Command {
  const resource = program.command(name).description(about);
  const examples: Example[] = [];
  for (const [action, definition] of Object.entries(commands)) {
    addCall(resource, action, definition, environment);
    const [first] = definition.examples ?? [];
    if (first !== undefined) examples.push([`${action} ${first[0]}`, first[1]]);
  }
  return withExamples(resource, `reseller ${name}`, examples);
}

export function addCall(parent: Command, name: string, definition: CallDefinition, environment: Environment): void {
  const command = parent.command(name).description(definition.about ?? '');
  describeWhenEntered(command, async () => addOptions(command, definition));
  const typed = `${parent.parent === null ? '' : `${parent.name()} `}${name}`;
  withExamples(command, `reseller ${typed}`, definition.examples ?? []);
  command.action(async () => {
    const { runCall } = await import('#cli/resources/run-call.ts');
    await runCall(definition, { ids: command.args, options: command.opts(), environment });
  });
}

async function addOptions(command: Command, definition: CallDefinition): Promise<void> {
  const { operation, path, query, body } = await apiCall(definition.call);
  command.description(definition.about ?? operation.summary);
  for (const each of path) command.argument(`<${each}>`);
  for (const field of query) if (!NOT_OPTIONS.has(field.name)) command.addOption(optionOf(field, true));
  for (const field of body ?? []) command.addOption(optionOf(field, false));
  if (body !== undefined)
    command.option('--body <file>', 'the whole body as JSON, from a file; - for the standard input');
  if (operation.idempotent) {
    command.option('--idempotency-key <key>', 'a repeated call with this key is carried out once (default: a new one)');
  }
  if (operation.prefersWait)
    command.option('--wait <duration>', 'wait for the result, such as 20 or 1m', secondsToWait);
  if (definition.prints === 'list') {
    command
      .option('--limit <count>', 'maximum number', entries, DEFAULT_LIMIT)
      .option('--all', 'all of them, without a maximum');
  }
  if (definition.prints === 'file')
    command.requiredOption('--output <file>', 'where to write it; - for the standard output');
  else withFormatOptions(command);
}

export function withExamples(command: Command, typed: string, examples: readonly Example[]): Command {
  if (examples.length === 0) return command;
  const lines = examples.map(([example, purpose]) => `  npx ${typed} ${example}\n      ${purpose}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

function secondsToWait(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number(waitSeconds(text));
}
