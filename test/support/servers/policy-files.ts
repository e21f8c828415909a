/** Policy files of the processes of a test. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingName } from '#domain/policy/policy.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** Settings of the policy by whole name, with values as in its file. */
export type NamedSettings = { readonly [Name in SettingName]?: unknown };

/** Variables of the environment, and settings of the policy by whole name: `{ 'retry.max_attempts': 1 }`. */
export type ProcessSettings = NamedSettings & { readonly [variable: Uppercase<string>]: string };

/** The variables of a process; POLICY_FILE names a new file in the folder with the common settings and its own. */
export function environmentOf(
  settings: ProcessSettings,
  common: NamedSettings,
  folder: string,
): Record<string, string> {
  const variables = Object.entries<unknown>(settings).filter((each): each is [string, string] => !isSetting(each[0]));
  const file = join(folder, `policy-${randomUUID()}.yaml`);
  return { ...Object.fromEntries(variables), POLICY_FILE: policyFile({ ...common, ...policyOf(settings) }, file) };
}

/** Writes a policy file. @param file by default in a folder of its own. @returns its path. */
export function policyFile(settings: NamedSettings, file = join(temporaryFolder('policy'), 'policy.yaml')): string {
  const policy: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(settings)) {
    const [group = '', setting = ''] = name.split('.');
    (policy[group] ??= {})[setting] = value;
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(policy, undefined, 2));
  return file;
}

export function policyOf(settings: ProcessSettings): NamedSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isSetting(name)));
}

const isSetting = (name: string) => name.includes('.');
