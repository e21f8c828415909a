import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { noteSpent } from '#cli/sandbox-tour/amounts.ts';
import { LEGS, type Leg, type LegName, notesOf, type TourFinding } from '#cli/sandbox-tour/leg.ts';
import { cancellationLeg } from '#cli/sandbox-tour/legs/cancellation.ts';
import { catalogueLeg, readWallet } from '#cli/sandbox-tour/legs/catalogue.ts';
import { deliveryLeg, lookUpLeg } from '#cli/sandbox-tour/legs/delivery.ts';
import { simulationLeg, topupLeg } from '#cli/sandbox-tour/legs/esims.ts';
import { type Bought, type OrderChoices, keysLeg, orderLeg } from '#cli/sandbox-tour/legs/orders.ts';
import { vpnLeg } from '#cli/sandbox-tour/legs/vpn.ts';
import { type WalletReading, readForProof, walletLeg } from '#cli/sandbox-tour/legs/wallet.ts';
import type { CallObservation, Observations } from '#cli/sandbox-tour/observations.ts';
import { profileFrom } from '#cli/sandbox-tour/profile.ts';
import { askOnce, openOwnSession } from '#cli/service/own-session.ts';
import { UserError, messageOf } from '#cli/terminal/user-error.ts';
import type { ServiceConfig } from '#config/config.ts';
import type { Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { ALL_CAPABILITIES, type MeasuredProfile } from '#domain/service/capability-profile.ts';
import { serviceAddress } from '#domain/service/service-address.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import type { Service } from '#upstream/service.ts';

export interface TourOptions extends OrderChoices {
  readonly vpnPlanId?: number | undefined;
  readonly keyAgeMs: number;
  readonly waitMs: number;
  readonly resendWindowMs: number;
  readonly onFinding?: (finding: TourFinding) => void;
  readonly now?: () => number;
  readonly delay?: Leg['delay'];
  readonly newId?: () => string;
}

export interface TourReport {
  readonly findings: readonly TourFinding[];
  /** The balance is fictional. */
  readonly before: Money | undefined;
  readonly after: Money | undefined;
  readonly measuredAt: number;
  /** Undefined when no eSIM could be bought. */
  readonly profile: MeasuredProfile | undefined;
}

const CALL_DEADLINE_MS = DEFAULT_POLICY.purchase.sendDeadlineMs;

/** @throws UserError in production, where a tour would spend real money. */
export function requireSandbox({ mode }: Pick<ServiceConfig, 'mode'>): void {
  if (mode === 'sandbox') return;
  throw new UserError(
    'SERVICE_MODE is production. The tour buys and cancels, so it would spend real money. Nothing was sent.',
    'Run it with SERVICE_MODE=sandbox, which uses a fictional balance. `npx reseller capabilities import` stores its ' +
      'JSON report in the database of production.',
  );
}

/** Spends some of the fictional balance. @throws UserError in production, before anything is sent. */
export async function runTour(config: ServiceConfig, options: TourOptions): Promise<TourReport> {
  requireSandbox(config);
  const { now = Date.now, delay = wait, newId = randomUUID, waitMs, resendWindowMs } = options;
  const limits = { deadlineMs: CALL_DEADLINE_MS, now };
  const service = openOwnSession({ ...config, capabilities: ALL_CAPABILITIES }, 'tour', limits);
  const client = rateLimitedClient(service.client, delay);
  const findings: TourFinding[] = [];
  const onFinding = (finding: TourFinding) => {
    findings.push(finding);
    options.onFinding?.(finding);
  };
  const observations: Observations = { calls: {}, keyRepeats: [], purchases: {}, resendWindowMs };
  const shared = { client, configured: config.capabilities, now, delay, newId, waitMs, observations };
  const probe = async () => await observeWebhookSecret(config, service.session);
  try {
    return await drive((name) => ({ ...shared, ...notesOf(name, onFinding) }), findings, options, probe);
  } finally {
    await service.close();
  }
}

type LegOf = (name: LegName) => Leg;

async function drive(
  legOf: LegOf,
  findings: readonly TourFinding[],
  options: TourOptions,
  probe: () => Promise<CallObservation>,
): Promise<TourReport> {
  const account = legOf('account');
  const { now, observations } = account;
  const startedAt = now();
  const wallet = await run(account, (leg) => readWallet(leg, 'before', startedAt));
  const before = wallet?.balance;
  const report = (after: Money | undefined, bought: Bought | undefined): TourReport => ({
    findings,
    before,
    after,
    measuredAt: now(),
    profile: bought === undefined ? undefined : profileFrom(observations),
  });
  if (wallet === undefined) {
    skip(legOf, Object.keys(LEGS).slice(1) as LegName[], 'the wallet could not be read');
    return report(undefined, undefined);
  }

  const base = await readForProof(account);
  const catalogue = await run(legOf('catalogue'), (leg) => catalogueLeg(leg, probe));
  const { packages = [], plans = [] } = catalogue ?? {};
  const bought = await run(legOf('order'), (leg) => orderLeg(leg, packages, options));
  if (bought === undefined) skip(legOf, WITH_ESIMS, 'no eSIM could be bought');
  else await driveEsims(legOf, bought, base);
  await run(legOf('vpn'), (leg) => vpnLeg(leg, plans, options.vpnPlanId));
  if (bought !== undefined) await run(legOf('keys'), (leg) => keysLeg(leg, bought.first, options.keyAgeMs));
  const after = await run(account, async (leg) => {
    const read = await readWallet(leg, 'after', startedAt);
    if (read !== undefined) noteSpent(leg, wallet, read);
    return read?.balance;
  });
  return report(after, bought);
}

const WITH_ESIMS = ['delivery', 'look_up', 'wallet', 'simulation', 'topup', 'cancellation', 'keys'] as const;

async function driveEsims(legOf: LegOf, { esims, package: item }: Bought, base: WalletReading | string): Promise<void> {
  const { untouched, recharged } = esims;
  const listed = { amount: item.price_for_reseller, currency: item.currency };
  if (untouched !== undefined) {
    const others = Object.values(esims).filter((esim) => esim !== untouched);
    await run(legOf('delivery'), (leg) => deliveryLeg(leg, untouched));
    await run(legOf('look_up'), (leg) => lookUpLeg(leg, [untouched, ...others], listed));
    await run(legOf('wallet'), (leg) => walletLeg(leg, base, [untouched, ...others]));
  }
  const simulated = await run(legOf('simulation'), (leg) => simulationLeg(leg, esims));
  const toppedUp = await run(legOf('topup'), async (leg) => {
    if (recharged !== undefined) return await topupLeg(leg, recharged.esimId);
    leg.step('POST /topups', 'a top-up that is completed').skipped('there is no eSIM for it');
    return false;
  });
  const input = { esims, listed, simulated: simulated ?? new Set(), recharged: toppedUp ?? false };
  await run(legOf('cancellation'), (leg) => cancellationLeg(leg, input));
}

/** An unexpected error becomes a step, so that the other legs still run. */
async function run<Result>(leg: Leg, work: (leg: Leg) => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work(leg);
  } catch (error) {
    leg.step('the whole leg', 'runs to its end').failed(`it ended with an error: ${messageOf(error)}`);
    return undefined;
  }
}

function skip(legOf: LegOf, legs: readonly LegName[], reason: string): void {
  for (const name of legs) legOf(name).step('the whole leg', 'runs').skipped(reason);
}

const LONGEST_WAIT_MS = 120_000;
const USUAL_WAIT_MS = 5_000;
const MOST_TRIES = 5;

/** A 429 is a definite failure, so the same bytes and key may be sent again after a wait. */
export function rateLimitedClient(client: ServiceClient, delay: (ms: number) => Promise<unknown>): ServiceClient {
  return new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        for (let tries = 1; ; tries += 1) {
          const result: unknown = await Reflect.apply(method, target, args);
          const waitMs = waitAskedFor(result);
          if (waitMs === undefined || tries === MOST_TRIES) return result;
          await delay(waitMs);
        }
      };
    },
  });
}

function waitAskedFor(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if (!('failure' in result) || result.failure !== 'rate_limited') return undefined;
  const asked =
    'retryAfterMs' in result && typeof result.retryAfterMs === 'number' ? result.retryAfterMs : USUAL_WAIT_MS;
  return Math.min(asked, LONGEST_WAIT_MS);
}

/**
 * A created secret would replace the one that signs webhooks. An existing address answers a GET with 405. After a 404,
 * an address that certainly exists shows whether this service answers 405 at all.
 */
async function observeWebhookSecret(
  { baseUrl, proxy }: ServiceConfig,
  session: Service['session'],
): Promise<CallObservation> {
  const held = await session.token(CALL_DEADLINE_MS);
  if (!held.ok) return { kind: 'broken', detail: 'there is no token' };
  const { origin, pathname } = new URL(serviceAddress(baseUrl, 'sandbox'));
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    authorization: `Bearer ${held.token.accessToken}`,
  };
  const statusOf = async (path: string): Promise<number | undefined> => {
    const request = { method: 'GET', path: `${pathname}${path}`, headers, deadlineMs: CALL_DEADLINE_MS } as const;
    const result = await askOnce({ origin, proxy }, request);
    return result.kind === 'answer' ? result.answer.status : undefined;
  };
  const status = await statusOf(ENDPOINTS.createWebhookSecret.path);
  if (status === 405)
    return { kind: 'works', detail: 'its address supports another method than GET; no secret was created' };
  if (status !== 404) return { kind: 'unclear', detail: `a GET of it returned ${status ?? 'no answer'}` };
  const known = await statusOf(ENDPOINTS.createVpnOrder.path);
  if (known === 405) return { kind: 'missing', detail: 'a GET of it returned 404, and a GET of a known address 405' };
  return { kind: 'unclear', detail: 'a GET of it returned 404, as does a GET of a known address' };
}
