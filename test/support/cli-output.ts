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

/** Runs one command of a resource as the program does. @returns what it prints, and its exit code. */
export async function outputOf(
  definition: CallDefinition | undefined,
  { environment, ids = [], options = {}, ...where }: Typing,
): Promise<{ readonly output: string; readonly notes: string; readonly code: number }> {
  if (definition === undefined) throw new Error('the resource has no such command');
  let printed = '';
  let noted = '';
  const output = { write: (text: string | Uint8Array) => ((printed += String(text)), true) };
  const notes = { write: (text: string | Uint8Array) => ((noted += String(text)), true) };
  try {
    await runCall(definition, { ids, options: { ...options, ...where }, environment, output, notes });
    return { output: printed, notes: noted, code: 0 };
  } catch (error) {
    const code = report(error, notes);
    return { output: printed, notes: noted, code };
  }
}
