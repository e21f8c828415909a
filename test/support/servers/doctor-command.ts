import { expect } from 'vitest';
import * as z from 'zod';
import { startProcess } from '#test/support/servers/processes.ts';
import type { Stack } from '#test/support/servers/stack.ts';

const jsonReport = z.object({
  exit_code: z.int(),
  checks: z.array(
    z.object({ check: z.string(), status: z.string(), detail: z.string(), advice: z.string().optional() }),
  ),
});

/** The contract check has its own test. The others do not depend on the calls that the simulator serves. */
const WITHOUT_DESCRIPTION = { SERVICE_MISSING_CAPABILITIES: 'openapi_download' };

/** Runs the doctor as a process with the environment of the worker and the API of a stack. */
export async function runDoctor(stack: Stack, changes: Record<string, string> = {}, args: readonly string[] = []) {
  const environment = {
    ...stack.environments.worker,
    ...stack.environments.api,
    PUBLIC_WEBHOOK_URL: `${stack.api.baseUrl}/webhooks/service`,
    ...WITHOUT_DESCRIPTION,
    ...changes,
  };
  const defined = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? '']));
  await using command = await startProcess({
    name: 'doctor',
    script: 'cli/main.ts',
    args: ['doctor', ...args],
    environment: defined,
  });
  const { code } = await command.exit();
  return { code, output: command.output() };
}

/**
 * Runs the doctor.
 * @returns the findings by check, and the status of those that are not ok; the contract only if it is checked.
 */
export async function findingsOfDoctor(stack: Stack, changes: Record<string, string> = {}) {
  const { code, output } = await runDoctor(stack, changes, ['--json']);
  const { exit_code: stated, checks } = jsonReport.parse(JSON.parse(output));
  expect(code).toBe(stated);
  const of = new Map(checks.map((finding) => [finding.check, finding]));
  const looked = checks.filter(
    ({ check }) => check !== 'contract' || changes['SERVICE_MISSING_CAPABILITIES'] !== undefined,
  );
  const problems = looked.flatMap(({ check, status }) => (status === 'ok' ? [] : [[check, status] as const]));
  return { code, problems: Object.fromEntries(problems) as Record<string, string>, of: Object.fromEntries(of) };
}
