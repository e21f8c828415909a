import type { WalletSeen } from '#cli/sandbox-tour/amounts.ts';
import type { Leg } from '#cli/sandbox-tour/leg.ts';
import { type CallObservation, clause, noteCall, noteEnd, observeCall } from '#cli/sandbox-tour/observations.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServicePackage, VpnPlan } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS } from '#upstream/mapping/wallet-movements.ts';

export interface Catalogue {
  readonly packages: readonly ServicePackage[];
  readonly plans: readonly VpnPlan[];
}

export async function catalogueLeg(leg: Leg, observeWebhookSecret: () => Promise<CallObservation>): Promise<Catalogue> {
  const { client } = leg;
  const packages = noteListing(leg, 'GET /packages', await client.listPackages());
  const plans = noteListing(leg, 'GET /vpn/plans', await client.listVpnPlans());
  noteCall(leg, 'public_packages', observeCall(await client.listPublicPackages()));
  noteCall(leg, 'openapi_download', observeCall(await client.getOpenApi()));
  noteCall(leg, 'webhook_secret', await observeWebhookSecret());
  await checkUpdates(leg);
  return { packages, plans };
}

function noteListing<Item extends { readonly available: boolean }>(
  leg: Leg,
  call: string,
  result: ServiceResult<Listing<Item>>,
): readonly Item[] {
  const step = leg.step(call, 'at least one item for sale, with prices');
  if (!result.ok) {
    step.failed(clause(result.detail));
    return [];
  }
  const { items } = result.value;
  const available = items.filter(({ available }) => available);
  step.expect(available.length > 0, `${items.length}, ${available.length} of them for sale`);
  noteEnd(leg, call, result.value);
  return items;
}

async function checkUpdates(leg: Leg): Promise<void> {
  const update = await leg.client.getLatestUpdate({ currentVersion: '1.0.0', channel: 'stable' });
  const step = leg.step('GET /updates/latest', 'an answer on the channel stable');
  if (update.ok) step.ok(`version ${update.value.latest_version}`);
  else step.failed(clause(update.detail));
}

/** Logs in first. @returns undefined when the balance is unreadable. */
export async function readWallet(leg: Leg, when: string, startedAt: number): Promise<WalletSeen | undefined> {
  const step = leg.step(`the wallet, ${when}`, 'a login, and a balance');
  const wallet = await leg.client.getWallet();
  if (!wallet.ok) {
    step.failed(clause(wallet.detail));
    return undefined;
  }
  const { balance: amount, currency } = wallet.value;
  step.ok(`${amount} ${currency}, fictional`);
  const listed = await leg.client.listWalletTransactions({ since: startedAt - CLOCK_SKEW_MS });
  return {
    balance: { amount, currency },
    movements: listed.ok && listed.value.complete ? listed.value.items : undefined,
  };
}
