import { withClient } from '#cli/embedded/postgres.ts';
import { addCapabilityProfile } from '#db/service/capability-profiles.ts';
import { profileItems } from '#domain/service/capability-profile.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { preparePoison } from '#test/crash/run/poison.ts';
import { FAILS_ONCE, NEVER_CREDITED } from '#test/crash/run/work.ts';
import type { Sabotage } from '#test/crash/saboteur.ts';
import type { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';

/** Stores the profile that the sandbox tour would measure, runs the saboteur's statements, and prepares poison. */
export async function prepareDatabase(
  stack: Stack,
  { setting, disturbances }: CrashPlan,
  sabotage: Sabotage | undefined,
): Promise<void> {
  const isThere = (item: string) =>
    !setting.lacks.some((each) => each === item) && !setting.without.some((each) => each === item);
  const items = profileItems.map((item) => [item, isThere(item)] as const);
  const findings = Object.fromEntries(items) as Parameters<typeof addCapabilityProfile>[1]['findings'];
  const evidence = Object.fromEntries(
    profileItems.map((item) => [item, 'Known of this dialect of the simulator.']),
  ) as Parameters<typeof addCapabilityProfile>[1]['evidence'];
  await stack.database.run((db) =>
    addCapabilityProfile(db, { environment: 'sandbox', measuredAt: new Date(), findings, evidence }),
  );
  await withClient(stack.databaseUrl, async (client) => {
    for (const statement of sabotage?.sql ?? []) await client.query(statement);
  });
  await preparePoison(stack.databaseUrl, disturbances);
}

export async function armService(
  admin: SimulatorAdmin,
  { setting, work, outcomes = [], requestFaults, webhookFaults }: CrashPlan,
): Promise<void> {
  await admin.dialect(setting.dialect, setting.properties);
  // The audit finds purchases by the ids of the ledger, which are texts.
  await admin.shape(setting.shape, { ids: 'text' });
  await admin.nextPurchases({ operation: 'order', package_id: FAILS_ONCE, outcome: 'failed_at_once' });
  await admin.nextPurchases({
    operation: 'order',
    package_id: NEVER_CREDITED,
    outcome: 'failed_at_once',
    credit_after_ms: null,
    count: null,
  });
  for (const outcome of outcomes) await admin.nextPurchases(outcome);
  const isDecidedLater = work.some((planned) => planned.kind === 'cancellation' && planned.later);
  if (isDecidedLater) await admin.nextPurchases({ operation: 'cancellation', outcome: 'processing_then_accepted' });
  for (const { endpoint, fault, nth, count } of requestFaults) await admin.onRequest(endpoint, fault, { nth, count });
  for (const { event, fault, nth } of webhookFaults) await admin.onWebhook(event, fault, { nth });
}
