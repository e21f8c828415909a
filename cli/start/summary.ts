import { join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { DEFAULT_FOLDER } from '#cli/data-folder/data-folder.ts';
import { devApiKeyFile } from '#cli/data-folder/development-secrets.ts';
import { shellQuoted } from '#cli/embedded/tool.ts';
import type { Plan } from '#cli/start/plan.ts';
import { visible } from '#cli/terminal/output.ts';
import type { Terminal } from '#cli/terminal/terminal.ts';
import { readWorkerConfig } from '#config/config.ts';

/** Leaves out the runs of schedules: several a minute would hide the work. */
const WORK = 'ExternalReference IS NOT NULL';

export function addressLines(
  plan: Plan,
  apiKey: string | undefined,
  terminal: Pick<Terminal, 'bold' | 'dim'>,
): string[] {
  const { ports, settings } = plan;
  const nearby = relative(process.cwd(), settings.dataDirectory);
  const data = nearby.startsWith('..') ? settings.dataDirectory : nearby || '.';
  const { namespace } = readWorkerConfig(plan.environments.worker).temporal;
  const ui = `${at(ports.temporalUi)}/namespaces/${namespace}/workflows?query=${encodeURIComponent(WORK)}`;
  const rows: [string, string][] = [
    ['API', at(ports.api)],
    ...(settings.cluster === undefined ? [] : membersOf(plan)),
    ['API documentation', `${at(ports.api)}/docs`],
    [settings.serviceBaseUrl === undefined ? 'Simulator' : 'Service', settings.serviceBaseUrl ?? at(ports.simulator)],
    ['Temporal', plan.temporalAddress],
    ...(settings.temporalAddress === undefined ? [['Temporal UI', ui] as [string, string]] : []),
    [
      'API key',
      apiKey === undefined
        ? `create one: npx reseller keys create NAME --scopes all --data ${shellArgument(data)}`
        : `${apiKey}  (${devApiKeyFile(data)})`,
    ],
    ['Data and logs', `${data}, ${join(data, 'logs')}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    terminal.bold('Everything runs.'),
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    ...(apiKey === undefined
      ? []
      : [
          'Order an eSIM yourself:',
          `  curl -X POST ${at(ports.api)}/v1/orders \\`,
          `    -H "Authorization: Bearer $(cat ${shellArgument(devApiKeyFile(data))})" \\`,
          '    -H "Content-Type: application/json" -H "Idempotency-Key: my-first" \\',
          `    -d '{"package_id": 2001, "external_order_id": "my-first"}'`,
          '',
        ]),
    terminal.dim('Press Ctrl-C to stop everything. The next start continues with the same data.'),
  ];
}

function at(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function shellArgument(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : shellQuoted(path);
}

function membersOf({ apiPorts, workerPorts, ports }: Plan): [string, string][] {
  return [
    ['APIs behind it', apiPorts.map(at).join(', ')],
    ['Workers (probes)', workerPorts.map(at).join(', ')],
    ['PostgreSQL', `127.0.0.1:${ports.postgres}`],
    ['Codec server', at(ports.codec)],
  ];
}

const readiness = z.object({ degraded: z.array(z.object({ detail: z.string() })).default([]) });

const ANSWER_TIMEOUT_MS = 2_000;

/** The workers' `/readyz` gives the reasons. Never throws. */
export async function waitingLines({
  ports,
  workerPorts,
  settings,
}: Pick<Plan, 'ports' | 'workerPorts' | 'settings'>): Promise<string[]> {
  const reasons = new Set((await Promise.all(workerPorts.map(degradationsOf))).flat());
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

/** Empty when the worker does not answer: the supervisor reports that. */
async function degradationsOf(port: number): Promise<string[]> {
  try {
    const answer = await fetch(`${at(port)}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return readiness.parse(await answer.json()).degraded.map(({ detail }) => detail);
  } catch {
    return [];
  }
}
