import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { ApiCommands, ApiError } from '#cli/api/api-client.ts';
import { duration } from '#cli/terminal/durations.ts';
import { type Output, printJson } from '#cli/terminal/output.ts';
import type { Environment } from '#config/environment.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import { counted } from '#domain/text.ts';

export interface PauseOptions extends ApiOptions {
  readonly kind?: string;
  readonly failureClass?: string;
  readonly reason: string;
}

const money = z.object({ amount: z.string(), currency: z.string() });
const pause = z.object({
  id: z.string(),
  origin: z.string(),
  kind: z.string().nullable(),
  failure_class: z.string().nullable(),
  reason: z.string(),
  paused_by: z.string(),
  paused_at: z.string(),
  released_at: z.string().nullable(),
});
const driftStop = z.object({
  kind: z.string(),
  state: z.string(),
  since: z.string().nullable(),
  detail: z.string().nullable(),
  parked: z.array(z.object({ count: z.int(), cost: z.array(money) })),
  stops: z.string(),
  end: z.string(),
});
const gate = z.object({
  circuits: z.array(
    z.object({ name: z.string(), state: z.string(), detail: z.string().nullable(), probe_at: z.string().nullable() }),
  ),
  pauses: z.array(pause),
  drift_stops: z.array(driftStop),
  held: z.array(
    z.object({
      held_at: z.string(),
      failure_class: z.string(),
      count: z.int(),
      needed: z.array(money),
      without_price: z.int(),
      oldest: z.object({ id: z.string(), accepted_at: z.string() }),
    }),
  ),
  wallet: z
    .object({
      balance: money,
      reserved: money,
      available: money,
      read_at: z.string(),
      current: z.boolean(),
      low_since: z.string().nullable(),
    })
    .nullable(),
  spend: z.object({
    day: z.string(),
    spent: z.array(money),
    limits: z.array(z.object({ name: z.string().nullable(), limit: money, spent: money })),
  }),
});
type Gate = z.output<typeof gate>;
const runway = z.object({
  detail: z.string().nullable(),
  days: z.number().nullable(),
  earliest_days: z.number().nullable(),
  latest_days: z.number().nullable(),
  daily_sales: z.object({ mean: money, days: z.int() }).nullable(),
  low_since: z.string().nullable(),
});

export class GateCommands extends ApiCommands {
  readonly #now: () => number;

  constructor(environment: Environment, output: Output = process.stdout, now: () => number = Date.now) {
    super(environment, output);
    this.#now = now;
  }

  async show({ json, ...options }: ApiOptions & { readonly json?: boolean }): Promise<void> {
    const answer = z.looseObject({});
    const found = await this.api(options).call({ path: '/v1/purchase-gate', answer });
    if (json === true) return printJson(this.output, found);
    for (const line of gateLines(gate.parse(found), this.#now())) this.say(line);
    this.say(await this.#runwayLine(options));
  }

  /** Needs wallet:read, which the key may lack. */
  async #runwayLine(options: ApiOptions): Promise<string> {
    try {
      return runwayText(await this.api(options).call({ path: '/v1/wallet/runway', answer: runway }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 403)
        return 'Wallet lasts: unknown, the key lacks the scope wallet:read';
      throw error;
    }
  }

  async pause({ kind, failureClass, reason, ...options }: PauseOptions): Promise<void> {
    const body = { kind, failure_class: failureClass, reason };
    const made = await this.api(options).call({
      path: '/v1/purchase-gate/pauses',
      body,
      idempotencyKey: randomUUID(),
      answer: pause,
    });
    this.say(`${made.id}  ${pauseScope(made.kind, made.failure_class)} paused, since ${made.paused_at}`);
    this.say(`End it with: npx reseller gate release ${made.id} --reason …`);
  }

  async release(id: string, { reason, ...options }: ApiOptions & { readonly reason: string }): Promise<void> {
    const query = new URLSearchParams({ reason });
    if (id.startsWith(DRIFT)) {
      const kind = encodeURIComponent(id.slice(DRIFT.length));
      const started = `/v1/purchase-gate/drift-stops/${kind}?${query.toString()}`;
      return this.say(driftLine(await this.api(options).call({ path: started, method: 'DELETE', answer: driftStop })));
    }
    const path = `/v1/purchase-gate/pauses/${encodeURIComponent(id)}?${query.toString()}`;
    const ended = await this.api(options).call({ path, method: 'DELETE', answer: pause });
    this.say(`${ended.id}  released at ${ended.released_at}`);
  }
}

const DRIFT = 'drift:';

function gateLines({ circuits, pauses, drift_stops: stops, held, wallet, spend }: Gate, now: number): string[] {
  const notClosed = circuits.filter(({ state }) => state !== 'closed');
  return [
    ...(notClosed.length === 0 ? ['Circuits: all closed'] : []),
    ...notClosed.map(({ name, state, probe_at: at, detail }) =>
      [
        `Circuit ${name}: ${state}`,
        at === null ? '' : `, next try ${tryText(at, now)}`,
        detail === null ? '' : `. Last: ${detail}`,
      ].join(''),
    ),
    ...(pauses.length === 0 ? ['Pauses: none'] : []),
    ...pauses.map(
      (one) =>
        `Pause ${one.id}: ${pauseScope(one.kind, one.failure_class)} paused, by ${pausedBy(one)} since ` +
        `${one.paused_at}: ${one.reason}`,
    ),
    ...stops.map(driftLine),
    ...(held.length === 0 ? ['Held at the gate: nothing'] : []),
    ...held.map(heldLine),
    walletLine(wallet, now),
    `Spent on ${spend.day}: ${spend.spent.map(text).join(', ') || 'nothing'}`,
    ...spend.limits.map(
      ({ name, limit, spent }) =>
        `Limit ${name === null ? 'of all keys' : `of ${name}`}: ${text(spent)} of ${text(limit)}`,
    ),
  ];
}

/** After its time, a circuit waits for the next purchase. */
function tryText(at: string, now: number): string {
  return Date.parse(at) > now ? `at ${at}` : 'due now: the next purchase is sent as a test';
}

function walletLine(wallet: Gate['wallet'], now: number): string {
  if (wallet === null) return 'Wallet: not known';
  const { balance, reserved, read_at: readAt, current, low_since: lowSince } = wallet;
  return [
    current ? 'Wallet: ' : 'Wallet: not known now. Last known: ',
    `${text(balance)}, of which ${text(reserved)} are reserved; `,
    // A clock behind that of the API would make the age negative.
    `read ${duration(Math.max(0, now - Date.parse(readAt)))} ago (${readAt})`,
    lowSince === null ? '' : '; LOW',
  ].join('');
}

/** Such as `Stopped at drift:order since …: … Last: … 2 paid and not delivered, together 4.80 USD. It ends …`. */
function driftLine({ kind, since, detail, parked, stops, end }: z.output<typeof driftStop>): string {
  const count = parked.reduce((sum, one) => sum + one.count, 0);
  const cost = parked.flatMap((one) => one.cost).map(text);
  return [
    `Stopped at drift:${kind} since ${since}: ${stops}`,
    ...(detail === null ? [] : [`Last: ${detail}`]),
    ...(count === 0 ? [] : [`${count} paid and not delivered${cost.length === 0 ? '' : `: ${cost.join(', ')}`}.`]),
    end,
  ].join(' ');
}

/** Such as `Held at wallet (insufficient_balance): 3 purchases, about 15.80 USD needed, oldest ord_… of …`. */
function heldLine({
  held_at: at,
  failure_class: failure,
  count,
  needed,
  without_price: unpriced,
  oldest,
}: Gate['held'][number]): string {
  return [
    `Held at ${at} (${failure}): ${counted(count, 'purchase')}`,
    ...(needed.length === 0 ? [] : [`about ${needed.map(text).join(' and ')} needed`]),
    ...(unpriced === 0 ? [] : [`${unpriced} without a known price`]),
    `oldest ${oldest.id} of ${oldest.accepted_at}`,
  ].join(', ');
}

function runwayText({
  detail,
  days,
  earliest_days: earliest,
  latest_days: latest,
  daily_sales: sales,
  low_since: lowSince,
}: z.output<typeof runway>): string {
  const low = lowSince === null ? '' : '; LOW';
  if (days === null || sales === null) return `Wallet lasts: not known. ${detail ?? ''}${low}`;
  const mean = `${text(sales.mean)} a day, the mean of ${counted(sales.days, 'day')}`;
  return `Wallet lasts: ${counted(days, 'day')} (${earliest} to ${latest}) at ${mean}${low}`;
}

function pausedBy({ origin, paused_by: by }: Pick<z.output<typeof pause>, 'origin' | 'paused_by'>): string {
  if (origin === 'amounts') return 'the product, until an operator has compared the amounts,';
  return origin === 'first_purchase_check' ? 'the product, until its first purchase check,' : by;
}

function text({ amount, currency }: z.output<typeof money>): string {
  return `${amount} ${currency}`;
}
