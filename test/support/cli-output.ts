import type { CallDefinition } from '#cli/resources/definition.ts';
import { runCall } from '#cli/resources/run-call.ts';
import { report } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** A command of a resource as a person types it, and where its API is. */
interface Typing {
  readonly api?: string;
  readonly data?: string;
  readonly environment: Environment;
  readonly ids?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** An output that keeps what a command writes. */
export function captured() {
  let text = '';
  return { write: (part: string | Uint8Array) => ((text += String(part)), true), text: () => text };
}

/** Runs one command of a resource as the program does. @returns what it prints, and its exit code. */
export async function outputOf(
  definition: CallDefinition | undefined,
  { environment, ids = [], options = {}, ...where }: Typing,
) {
  if (definition === undefined) throw new Error('the resource has no such command');
  const [output, notes] = [captured(), captured()];
  const code = await runCall(definition, { ids, options: { ...options, ...where }, environment, output, notes }).then(
    () => 0,
    (error: unknown) => report(error, notes),
  );
  return { output: output.text(), notes: notes.text(), code };
}
