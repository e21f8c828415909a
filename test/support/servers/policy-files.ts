/** Policy files of the processes of a test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingName } from '#domain/policy/policy.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** Settings of the policy by whole name, with values as in its file. */
export type NamedSettings = { readonly [Name in SettingName]?: unknown };

/** Variables of the environment, and settings of the policy by whole name: `{ 'retry.max_attempts': 1 }`. */
export type ProcessSettings = NamedSettings & { readonly [variable: Uppercase<string>]: string };

/** Writes policy files below a folder. */
export class PolicyFiles {
  readonly #folder: string;
  readonly #common: NamedSettings;
  #written = 0;

  /** @param common settings of every process. */
  constructor(folder: string, common: NamedSettings) {
    this.#folder = folder;
    this.#common = common;
  }

  /** The variables of a process; POLICY_FILE names a file with the common settings and those given. */
  environmentOf(settings: ProcessSettings): Record<string, string> {
    const file = join(this.#folder, `policy-${(this.#written += 1)}.yaml`);
    writeFileSync(file, policyText({ ...this.#common, ...policyOf(settings) }));
    return { ...variablesOf(settings), POLICY_FILE: file };
  }
}

/** Writes a policy file of its own. @returns its path. */
export function policyFile(settings: NamedSettings): string {
  const file = join(temporaryFolder('policy'), 'policy.yaml');
  writeFileSync(file, policyText(settings));
  return file;
}

/** The content of a policy file. JSON is YAML. */
function policyText(settings: NamedSettings): string {
  const file: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(settings)) {
    const [group = '', setting = ''] = name.split('.');
    (file[group] ??= {})[setting] = value;
  }
  return JSON.stringify(file, undefined, 2);
}

/** The settings of the policy. */
export function policyOf(settings: ProcessSettings): NamedSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isSetting(name)));
}

function variablesOf(settings: ProcessSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries<unknown>(settings).filter((entry): entry is [string, string] => !isSetting(entry[0])),
  );
}

function isSetting(name: string): boolean {
  return name.includes('.');
}
