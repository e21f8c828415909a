import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import QRCode from 'qrcode';
import * as z from 'zod';
import { type ApiOptions, developmentAccess, type ApiAccess } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { DEFAULT_FOLDER, jsonOf } from '#cli/data-folder/data-folder.ts';
import { readSecretFile, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { visible } from '#cli/terminal/output.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { EsimActivation, Order, PackagePage, Timeline } from '#clients/typescript/src/index.ts';
import { FINAL_STATUSES } from '#domain/work/lifecycle.ts';

/** @throws UserError when there is no development API key. */
export async function demo(options: ApiOptions): Promise<void> {
  const data = resolve(options.data ?? DEFAULT_FOLDER);
  const api = developmentAccess(options);
  if (api === undefined) {
    throw new UserError(
      `There is no development API key in ${data}.`,
      'Run `npm start` first, or give its data folder with --data. `npm start` creates this key only with the ' +
        'simulator.',
    );
  }
  const delivered = await runDemo({ api, stateFile: join(data, 'demo.json'), terminal: new Terminal(process.stdout) });
  if (!delivered) process.exitCode = 1;
}

export interface DemoOptions {
  readonly api: ApiAccess;
  /** The next run follows an unfinished order instead of buying another one. */
  readonly stateFile: string;
  readonly terminal: Terminal;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly explainWait?: () => Promise<readonly string[]>;
  readonly quietMs?: number;
}

const pending = z.object({ external_order_id: z.string(), package_id: z.int() });

const FOLLOW_TIMEOUT_MS = 60_000;
const POLL_MS = 200;
/** An order takes about two seconds; on a busy machine some more. */
const QUIET_MS = 5_000;
// Delivered after a delay, so the order waits for a webhook, as usual in production.
const PREFERRED_PACKAGE = 9001;

/** When it returns false, the order continues without this process. */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const { terminal } = options;
  const api = new ApiClient(options.api, { signal: options.signal });
  const wanted = await wantedOrder(api, options.stateFile);
  terminal.say(`\n${terminal.bold('A first order')}: POST /v1/orders with package ${wanted.package_id}`);
  const created = await api.call<Order>({
    path: '/v1/orders',
    body: { package_id: wanted.package_id, external_order_id: wanted.external_order_id },
    // A repeated start gets the same order.
    keyed: true,
    options: { idempotencyKey: wanted.external_order_id },
  });
  const ended = await follow(api, created.id, options);
  if (!isFinal(ended)) {
    terminal.say(`The order is ${ended.status} and continues: GET /v1/orders/${ended.id}`);
    return false;
  }
  rmSync(options.stateFile, { force: true });
  if (ended.status !== 'completed' || !ended.esim_id) {
    terminal.say(`The order ended as ${ended.status}. GET /v1/orders/${ended.id}/timeline shows the reason.`);
    return false;
  }
  const { activation_code: code } = await api.call<EsimActivation>({ path: `/v1/esims/${ended.esim_id}/activation` });
  terminal.say(`\n${terminal.bold('The eSIM')} ${ended.esim_id} (simulated: no phone can install it)`);
  terminal.say(await qrCode(code, terminal.interactive));
  terminal.say(`${code}\n`);
  return true;
}

async function wantedOrder(api: ApiClient, stateFile: string): Promise<z.output<typeof pending>> {
  const earlier = pending.safeParse(jsonOf(readSecretFile(stateFile)));
  if (earlier.success) return earlier.data;
  const { data } = await api.call<PackagePage>({ path: '/v1/packages?limit=100' });
  const chosen = data.find(({ id }) => id === PREFERRED_PACKAGE) ?? data[0];
  if (chosen === undefined) throw new Error('the service sells no packages');
  const made = { external_order_id: `demo-${randomUUID()}`, package_id: chosen.id };
  writeSecretFile(stateFile, `${JSON.stringify(made)}\n`);
  return made;
}

async function follow(api: ApiClient, orderId: string, options: DemoOptions): Promise<Order> {
  const { terminal, timeoutMs = FOLLOW_TIMEOUT_MS, quietMs = QUIET_MS } = options;
  let { explainWait } = options;
  const deadline = performance.now() + timeoutMs;
  const shown = new Set<string>();
  let changedAt = performance.now();
  let startedAt: number | undefined;
  for (;;) {
    // The status first: once an order has ended, its timeline is complete.
    const current = await api.call<Order>({ path: `/v1/orders/${orderId}` });
    const { data } = await api.call<Timeline>({ path: `/v1/orders/${orderId}/timeline?limit=100` });
    for (const entry of data) {
      // By content: a late entry may appear between two earlier ones.
      const content = `${entry.at} ${entry.event} ${entry.message}`;
      if (shown.has(content)) continue;
      shown.add(content);
      changedAt = performance.now();
      startedAt ??= Date.parse(entry.at);
      const seconds = ((Date.parse(entry.at) - startedAt) / 1_000).toFixed(1);
      terminal.say(
        `  ${terminal.dim(`+${seconds} s`.padStart(8))}  ${visible(entry.event).padEnd(22)} ${visible(entry.message)}`,
      );
    }
    if (isFinal(current) || performance.now() > deadline) return current;
    if (explainWait !== undefined && performance.now() - changedAt >= quietMs) {
      terminal.say(`  The order is ${current.status} and has not changed for ${Math.round(quietMs / 1_000)} s.`);
      for (const line of await explainWait()) terminal.say(line);
      explainWait = undefined;
    }
    await delay(POLL_MS, undefined, options.signal === undefined ? {} : { signal: options.signal });
  }
}

function isFinal({ status }: Order): boolean {
  return (FINAL_STATUSES as readonly string[]).includes(status);
}

/** Black on white can be scanned on any background. */
function qrCode(text: string, inColour: boolean): Promise<string> {
  const errorCorrectionLevel = 'L';
  return inColour
    ? QRCode.toString(text, { type: 'terminal', small: true, errorCorrectionLevel })
    : QRCode.toString(text, { type: 'utf8', margin: 2, errorCorrectionLevel });
}
