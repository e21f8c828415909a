/** The policy file: its groups, its settings, and the relations between their values. */
import * as z from 'zod';
import { writeDuration } from '#config/policy/fields.ts';
import {
  cancellationSettings,
  gateSettings,
  purchaseSettings,
  retrySettings,
  vpnSubscriptionSettings,
  walletSettings,
  watchSettings,
} from '#config/policy/purchase-settings.ts';
import {
  booksSettings,
  catalogueSettings,
  eventSettings,
  eventWebhookSettings,
  reconcilerSettings,
  relaySettings,
  serviceWebhookSettings,
  streamSettings,
  sweeperSettings,
  waitingSettings,
} from '#config/policy/upkeep-settings.ts';
import { MIN_SEND_MARGIN_MS } from '#domain/policy/purchase-policy.ts';
import { copiesAcceptedForMs } from '#domain/service/service-address.ts';

function group<Shape extends z.ZodRawShape>(shape: Shape, description: string) {
  return z
    .strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? 'must be a map of settings' : undefined) })
    .prefault({} as z.input<z.ZodObject<Shape>>)
    .meta({ description });
}

/** Every group, in the order of the documents. */
export const POLICY_GROUPS = {
  purchase: group(purchaseSettings, 'Purchases: sending, waiting for the service, delivering.'),
  retry: group(retrySettings, 'Failures that hold work, or allow a new attempt.'),
  cancellation: group(cancellationSettings, 'Cancellations of eSIMs with a refund.'),
  vpn_subscription: group(vpnSubscriptionSettings, 'VPN subscriptions after their purchase.'),
  gate: group(gateSettings, 'The purchase gate: money, limits, circuits.'),
  wallet: group(walletSettings, 'Announcements about the balance of the wallet.'),
  books: group(booksSettings, 'The comparison of the books with the wallet.'),
  catalogue: group(catalogueSettings, 'The catalogue of packages and VPN plans.'),
  watch: group(watchSettings, 'eSIMs and subscriptions that run out.'),
  reconciler: group(reconcilerSettings, 'Look-ups of work that the service is silent about.'),
  sweeper: group(sweeperSettings, 'Unfinished work whose workflow is lost.'),
  relay: group(relaySettings, 'The relay, from PostgreSQL to Temporal.'),
  service_webhooks: group(serviceWebhookSettings, 'Webhooks that the service sends to us.'),
  event_webhooks: group(eventWebhookSettings, 'Webhooks that we send to webhook endpoints.'),
  events: group(eventSettings, 'The feed of events.'),
  waiting: group(waitingSettings, 'Callers that wait for an answer.'),
  streams: group(streamSettings, 'Event streams.'),
};

const policyFile = z.strictObject(POLICY_GROUPS, {
  error: ({ code }) => (code === 'invalid_type' ? 'must be a map of groups' : undefined),
});

/** The settings of a policy file, with defaults for those that it leaves out. Durations are in milliseconds. */
export type PolicySettings = z.output<typeof policyFile>;

type Input = z.input<typeof policyFile>;
type GroupName = keyof typeof POLICY_GROUPS;
type SettingsOf<Group extends GroupName> = NonNullable<Input[Group]>;

/** Settings by their whole name, such as `retry.hold_delay`, with values as in the file. */
export type NamedSettings = {
  readonly [Name in WholeName]?: Name extends `${infer Group extends GroupName}.${infer Setting}`
    ? SettingsOf<Group>[Setting & keyof SettingsOf<Group>]
    : never;
};
type WholeName = { [Group in GroupName]: `${Group}.${keyof SettingsOf<Group> & string}` }[GroupName];

/** The schema of the policy file, with the relations between its values. */
export const policySchema = policyFile.superRefine((given, context) => {
  for (const [path, message] of contradictions(given)) context.addIssue({ code: 'custom', path: [...path], message });
});

function contradictions({
  purchase,
  event_webhooks: webhooks,
  events,
  sweeper,
  service_webhooks: serviceWebhooks,
}: PolicySettings): (readonly [string[], string])[] {
  const found: (readonly [string[], string])[] = [];
  if (purchase.send_deadline + MIN_SEND_MARGIN_MS > purchase.send_lease) {
    const least = writeDuration(purchase.send_deadline + MIN_SEND_MARGIN_MS);
    found.push([['purchase', 'send_lease'], `must be at least a second more than purchase.send_deadline: ${least}`]);
  }
  if (purchase.send_deadline + purchase.send_lease > purchase.send_activity_timeout) {
    const least = writeDuration(purchase.send_deadline + purchase.send_lease);
    const message = `must be at least purchase.send_deadline and purchase.send_lease together: ${least}`;
    found.push([['purchase', 'send_activity_timeout'], message]);
  }
  if (webhooks.lease <= webhooks.deadline)
    found.push([['event_webhooks', 'lease'], 'must be more than event_webhooks.deadline']);
  if (events.kept <= webhooks.retry_for) {
    const reason = 'an event that is no longer stored cannot be sent';
    found.push([['events', 'kept'], `must be more than event_webhooks.retry_for: ${reason}`]);
  }
  const copiesFor = copiesAcceptedForMs(serviceWebhooks.timestamp_tolerance);
  if (sweeper.history_kept < copiesFor) {
    const least = `must be at least twice service_webhooks.timestamp_tolerance, ${writeDuration(copiesFor)}`;
    const reason = 'a copy of a webhook is recognised by its stored report';
    found.push([['sweeper', 'history_kept'], `${least}: ${reason}`]);
  }
  return found;
}
