import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { OwnToken } from '#cli/access/own-token.ts';
import { noteSpent } from '#cli/sandbox-tour/amounts.ts';
import type { TourContext } from '#cli/sandbox-tour/context.ts';
import { type Leg, type LegNotes, LEGS, Notebook, type TourFinding } from '#cli/sandbox-tour/finding.ts';
import { readWallet } from '#cli/sandbox-tour/legs/account-leg.ts';
import { cancellationLeg } from '#cli/sandbox-tour/legs/cancellation-leg.ts';
import { catalogueLeg } from '#cli/sandbox-tour/legs/catalogue-leg.ts';
import { deliveryLeg } from '#cli/sandbox-tour/legs/delivery-leg.ts';
import { keysLeg } from '#cli/sandbox-tour/legs/keys-leg.ts';
import { lookUpLeg } from '#cli/sandbox-tour/legs/look-up-leg.ts';
import { type Bought, type OrderChoices, orderLeg } from '#cli/sandbox-tour/legs/order-leg.ts';
import { simulationLeg } from '#cli/sandbox-tour/legs/simulation-leg.ts';
import { topupLeg } from '#cli/sandbox-tour/legs/topup-leg.ts';
import { vpnLeg } from '#cli/sandbox-tour/legs/vpn-leg.ts';
import { readForProof, walletLeg, type WalletReading } from '#cli/sandbox-tour/legs/wallet-leg.ts';
import { observeWebhookSecret } from '#cli/sandbox-tour/method-probe.ts';
import type { OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { profileFrom } from '#cli/sandbox-tour/profile.ts';
import { rateLimitedClient } from '#cli/sandbox-tour/rate-limited-client.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';
import type { ServiceConfig } from '#config/config.ts';
import type { Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { ALL_CAPABILITIES, type MeasuredProfile } from '#domain/service/capability-profile.ts';
import { openService, type Service } from '#upstream/service.ts';

export interface TourOptions extends OrderChoices {
  /** The VPN plan to order; undefined: the first one for sale. */
  readonly vpnPlanId?: number | undefined;
  /** Age at which the first key is used again, in milliseconds. */
  readonly keyAgeMs: number;
  /** How long the tour waits for a result, in milliseconds. */
  readonly waitMs: number;
  /** The product's resend window, in milliseconds. */
  readonly resendWindowMs: number;
  /** Called after each step. */
  readonly onFinding?: (finding: TourFinding) => void;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  readonly delay?: TourContext['delay'];
  /** Returns a new unique text, for keys and references. */
  readonly newId?: () => string;
}

export interface TourReport {
  readonly findings: readonly TourFinding[];
  /** The fictional balance; undefined when it could not be read. */
  readonly before: Money | undefined;
  readonly after: Money | undefined;
  /** Epoch milliseconds. */
  readonly measuredAt: number;
  /** Undefined when no eSIM could be bought. */
  readonly profile: MeasuredProfile | undefined;
}

/** The product's time limit for the answer to a purchase. */
const CALL_DEADLINE_MS = DEFAULT_POLICY.purchase.sendDeadlineMs;

/** Device names have 255 characters at most. */
const MOST_OF_A_NAME = 200;

/** @throws UserError in production, where a tour would spend real money. */
export function requireSandbox({ mode }: Pick<ServiceConfig, 'mode'>): void {
  if (mode === 'sandbox') return;
  throw new UserError(
    'SERVICE_MODE is production. The tour buys and cancels, so it would spend real money. Nothing was sent.',
    'Run it with SERVICE_MODE=sandbox, which uses a fictional balance. `npx reseller capabilities import` stores its ' +
      'JSON report in the database of production.',
  );
}

/**
 * Makes every call of the product in the service's sandbox, and measures the capabilities of the service. Spends some
 * of the fictional balance.
 *
 * @throws UserError in production, before anything is sent.
 */
export async function runTour(config: ServiceConfig, options: TourOptions): Promise<TourReport> {
  requireSandbox(config);
  const { now = Date.now, delay = wait, newId = randomUUID } = options;
  const service = openService({
    ...config,
    capabilities: ALL_CAPABILITIES,
    deadlineMs: CALL_DEADLINE_MS,
    // A service may keep one token for each device: this login must not end the token of running processes.
    deviceName: `${config.deviceName.slice(0, MOST_OF_A_NAME)}-tour`,
    tokens: new OwnToken(),
    now,
  });
  const client = rateLimitedClient(service.client, delay);
  const context = { client, configured: config.capabilities, now, delay, newId, waitMs: options.waitMs };
  const notebook = new Notebook(options.onFinding ?? (() => undefined));
  const { resendWindowMs } = options;
  const observations: OpenObservations = { calls: {}, keyRepeats: [], purchases: {}, resendWindowMs };
  try {
    return await drive(context, { notebook, observations, service, config, options });
  } finally {
    await service.close();
  }
}

interface Parts {
  readonly notebook: Notebook;
  readonly observations: OpenObservations;
  readonly service: Service;
  readonly config: ServiceConfig;
  readonly options: TourOptions;
}

async function drive(context: TourContext, parts: Parts): Promise<TourReport> {
  const { notebook, observations, service, config, options } = parts;
  const leg = async <Result>(name: Leg, run: (notes: LegNotes) => Promise<Result>): Promise<Result | undefined> =>
    await driveLeg(notebook.leg(name), run);

  const startedAt = context.now();
  const wallet = await leg('account', (notes) => readWallet(context, notes, 'before', startedAt));
  const before = wallet?.balance;
  const report = (after: Money | undefined, bought: Bought | undefined): TourReport => ({
    findings: notebook.findings,
    before,
    after,
    measuredAt: context.now(),
    profile: bought === undefined ? undefined : profileFrom(observations),
  });
  if (wallet === undefined) {
    skip(notebook, Object.keys(LEGS).slice(1) as Leg[], 'the wallet could not be read');
    return report(undefined, undefined);
  }

  const base = await readForProof(context);
  const probe = async () => await observeWebhookSecret(config, service.session, CALL_DEADLINE_MS);
  const catalogue = await leg('catalogue', (notes) => catalogueLeg(context, notes, observations, probe));
  const { packages = [], plans = [] } = catalogue ?? {};
  const bought = await leg('order', (notes) => orderLeg(context, notes, observations, packages, options));
  if (bought === undefined)
    skip(
      notebook,
      ['delivery', 'look_up', 'wallet', 'simulation', 'topup', 'cancellation', 'keys'],
      'no eSIM could be bought',
    );
  else await driveEsims(context, observations, leg, bought, base);
  await leg('vpn', (notes) => vpnLeg(context, notes, observations, plans, options.vpnPlanId));
  if (bought !== undefined)
    await leg('keys', (notes) => keysLeg(context, notes, observations, bought.first, options.keyAgeMs));
  const after = await leg('account', async (notes) => {
    const read = await readWallet(context, notes, 'after', startedAt);
    if (read !== undefined) noteSpent(notes, observations, wallet, read);
    return read?.balance;
  });
  return report(after, bought);
}

async function driveEsims(
  context: TourContext,
  observations: OpenObservations,
  leg: <Result>(name: Leg, run: (notes: LegNotes) => Promise<Result>) => Promise<Result | undefined>,
  { esims, package: item }: Bought,
  base: WalletReading | string,
): Promise<void> {
  const { untouched, recharged } = esims;
  const listed = { amount: item.price_for_reseller, currency: item.currency };
  if (untouched !== undefined) {
    const others = Object.values(esims).filter((esim) => esim !== untouched);
    await leg('delivery', (notes) => deliveryLeg(context, notes, observations, untouched));
    await leg('look_up', (notes) => lookUpLeg(context, notes, observations, [untouched, ...others], listed));
    await leg('wallet', (notes) => walletLeg(context, notes, observations, base, [untouched, ...others]));
  }
  const simulated = await leg('simulation', (notes) => simulationLeg(context, notes, observations, esims));
  const toppedUp = await leg('topup', async (notes) => {
    if (recharged !== undefined) return await topupLeg(context, notes, observations, recharged.esimId);
    notes.skipped('POST /topups', 'a top-up that is completed', 'there is no eSIM for it');
    return false;
  });
  const input = { esims, listed, simulated: simulated ?? new Set(), recharged: toppedUp ?? false };
  await leg('cancellation', (notes) => cancellationLeg(context, notes, observations, input));
}

/** Records an unexpected error of a leg as a step, so that the other legs still run. */
async function driveLeg<Result>(
  notes: LegNotes,
  run: (notes: LegNotes) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run(notes);
  } catch (error) {
    notes.failed('the whole leg', 'runs to its end', `it ended with an error: ${messageOf(error)}`);
    return undefined;
  }
}

function skip(notebook: Notebook, legs: readonly Leg[], reason: string): void {
  for (const name of legs) notebook.leg(name).skipped('the whole leg', 'runs', reason);
}
