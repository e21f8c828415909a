/** What a person who waits for the first order has to know. */
import { resolve } from 'node:path';
import * as z from 'zod';
import { DEFAULT_FOLDER } from '#cli/data-folder/installation.ts';
import type { Plan } from '#cli/start/plan.ts';
import { visible } from '#cli/terminal/visible-text.ts';

const readiness = z.object({ degraded: z.array(z.object({ detail: z.string() })).default([]) });

const ANSWER_TIMEOUT_MS = 2_000;

/**
 * Why no work continues, by the workers' `/readyz`, with the command that mends it, and the addresses of the API and of
 * the Temporal UI, which are printed with the others only after the first order.
 *
 * @returns lines; the addresses alone when no worker reports a reason. Never throws.
 */
export async function waitingLines({
  ports,
  workerPorts,
  settings,
}: Pick<Plan, 'ports' | 'workerPorts' | 'settings'>): Promise<string[]> {
  const reasons = new Set((await Promise.all(workerPorts.map(degradationsOf))).flat());
  const at = (port: number) => `http://127.0.0.1:${port}`;
  return [
    ...[...reasons].map((reason) => `  Workers report: ${visible(reason)}`),
    // Commands find only the default folder by themselves.
    ...(reasons.size === 0 || settings.dataDirectory === resolve(DEFAULT_FOLDER)
      ? []
      : [`  Add to the command: --data ${settings.dataDirectory}`]),
    `  API          ${at(ports.api)}`,
    ...(settings.temporalAddress === undefined ? [`  Temporal UI  ${at(ports.temporalUi)}`] : []),
  ];
}

/** @returns nothing when the worker does not answer: the supervisor reports that. */
async function degradationsOf(port: number): Promise<string[]> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return readiness.parse(await answer.json()).degraded.map(({ detail }) => detail);
  } catch {
    return [];
  }
}
