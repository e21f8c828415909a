import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteCall, noteEnd } from '#cli/sandbox-tour/noting.ts';
import { clause, observeCall, type CallObservation, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServicePackage, VpnPlan } from '#upstream/contract.ts';

export interface Catalogue {
  readonly packages: readonly ServicePackage[];
  readonly plans: readonly VpnPlan[];
}

/** Reads packages, plans, the OpenAPI document, the webhook secret and updates. */
export async function catalogueLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  observeWebhookSecret: () => Promise<CallObservation>,
): Promise<Catalogue> {
  const { client } = context;
  const packages = noteListing(notes, 'GET /packages', await client.listPackages());
  const plans = noteListing(notes, 'GET /vpn/plans', await client.listVpnPlans());
  noteCall(context, notes, observations, 'public_packages', observeCall(await client.listPublicPackages()));
  noteCall(context, notes, observations, 'openapi_download', observeCall(await client.getOpenApi()));
  noteCall(context, notes, observations, 'webhook_secret', await observeWebhookSecret());
  await checkUpdates(context, notes);
  return { packages, plans };
}

function noteListing<Item extends { readonly available: boolean }>(
  notes: LegNotes,
  step: string,
  result: ServiceResult<Listing<Item>>,
): readonly Item[] {
  const expected = 'at least one item for sale, with prices';
  if (!result.ok) {
    notes.failed(step, expected, clause(result.detail));
    return [];
  }
  const { items } = result.value;
  const available = items.filter(({ available }) => available);
  notes.expect(available.length > 0, step, expected, `${items.length}, ${available.length} of them for sale`);
  noteEnd(notes, step, result.value);
  return items;
}

async function checkUpdates({ client }: TourContext, notes: LegNotes): Promise<void> {
  const update = await client.getLatestUpdate({ currentVersion: '1.0.0', channel: 'stable' });
  const [step, expected] = ['GET /updates/latest', 'an answer on the channel stable'];
  if (update.ok) notes.ok(step, expected, `version ${update.value.latest_version}`);
  else notes.failed(step, expected, clause(update.detail));
}
