import type { ApiOptions } from '#cli/api/api-access.ts';
import { type ApiClient, apiClient, ApiError } from '#cli/api/api-client.ts';
import { duration, type Output, printJson, printLine, printLines } from '#cli/terminal/output.ts';
import type { DriftStop, Money, Pause, PurchaseGate, WalletRunway } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import { counted } from '#domain/text.ts';

export async function showGate(
  { json, ...options }: ApiOptions & { readonly json?: boolean },
  environment: Environment,
  output: Output = process.stdout,
  now: () => number = Date.now,
): Promise<void> {
  const api = apiClient(options, environment);
  const gate = await api.call<PurchaseGate>({ path: '/v1/purchase-gate' });
  if (json === true) return printJson(output, gate);
  printLines(output, [...gateLines(gate, now()), await runwayLine(api)]);
}

/** Needs wallet:read, which the key may lack. */
async function runwayLine(api: ApiClient): Promise<string> {
  try {
    return runwayText(await api.call<WalletRunway>({ path: '/v1/wallet/runway' }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403)
      return 'Wallet lasts: unknown, the key lacks the scope wallet:read';
    throw error;
  }
}

export async function pausePurchases(
  options: ApiOptions & { readonly kind?: string; readonly failureClass?: string; readonly reason: string },
  environment: Environment,
): Promise<void> {
  const { kind, failureClass, reason } = options;
  const made = await apiClient(options, environment).call<Pause>({
    path: '/v1/purchase-gate/pauses',
    body: { kind, failure_class: failureClass, reason },
    keyed: true,
  });
  printLines(process.stdout, [
    `${made.id}  ${pauseScope(made.kind, made.failure_class)} paused, since ${made.paused_at}`,
    `End it with: npx reseller gate release ${made.id} --reason …`,
  ]);
}

/** @param id of a pause, or `drift:<kind>`. */
export async function releasePurchases(
  id: string,
  { reason, ...options }: ApiOptions & { readonly reason: string },
  environment: Environment,
): Promise<void> {
  const api = apiClient(options, environment);
  const end = async <Answer>(path: string, keyed = false) =>
    api.call<Answer>({ path, method: 'DELETE', query: { reason }, keyed });
  if (id.startsWith(DRIFT)) {
    const kind = encodeURIComponent(id.slice(DRIFT.length));
    return printLine(process.stdout, driftLine(await end<DriftStop>(`/v1/purchase-gate/drift-stops/${kind}`, true)));
  }
  const ended = await end<Pause>(`/v1/purchase-gate/pauses/${encodeURIComponent(id)}`);
  printLine(process.stdout, `${ended.id}  released at ${ended.released_at}`);
}

const DRIFT = 'drift:';

function gateLines({ circuits, pauses, drift_stops: stops, held, wallet, spend }: PurchaseGate, now: number): string[] {
  const notClosed = circuits.filter(({ state }) => state !== 'closed');
  return [
    ...(notClosed.length === 0 ? ['Circuits: all closed'] : []),
    ...notClosed.map(({ name, state, probe_at: at, detail }) => {
      const next = at === null ? '' : `, next try ${tryText(at, now)}`;
      return `Circuit ${name}: ${state}${next}${detail === null ? '' : `. Last: ${detail}`}`;
    }),
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

function walletLine(wallet: PurchaseGate['wallet'], now: number): string {
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
function driftLine({ kind, since, detail, parked, stops, end }: DriftStop): string {
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
function heldLine({ needed, oldest, ...held }: PurchaseGate['held'][number]): string {
  return [
    `Held at ${held.held_at} (${held.failure_class}): ${counted(held.count, 'purchase')}`,
    ...(needed.length === 0 ? [] : [`about ${needed.map(text).join(' and ')} needed`]),
    ...(held.without_price === 0 ? [] : [`${held.without_price} without a known price`]),
    `oldest ${oldest.id} of ${oldest.accepted_at}`,
  ].join(', ');
}

function runwayText({ days, daily_sales: sales, ...runway }: WalletRunway): string {
  const low = runway.low_since === null ? '' : '; LOW';
  if (days === null || sales === null) return `Wallet lasts: not known. ${runway.detail ?? ''}${low}`;
  const mean = `${text(sales.mean)} a day, the mean of ${counted(sales.days, 'day')}`;
  return `Wallet lasts: ${counted(days, 'day')} (${runway.earliest_days} to ${runway.latest_days}) at ${mean}${low}`;
}

function pausedBy({ origin, paused_by: by }: Pause): string {
  if (origin === 'amounts') return 'the product, until an operator has compared the amounts,';
  return origin === 'first_purchase_check' ? 'the product, until its first purchase check,' : by;
}

function text({ amount, currency }: Money): string {
  return `${amount} ${currency}`;
}
