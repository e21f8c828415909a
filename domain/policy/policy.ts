/**
 * Every delay, limit and count of the product with the reason for its value, as one type. A workflow receives its copy
 * in its input and never reads configuration. Tests shorten the values.
 */
import { STREAM_POLICY, WAITING_POLICY, type StreamPolicy, type WaitingPolicy } from '#domain/policy/api-policy.ts';
import { GATE_POLICY, type GatePolicy } from '#domain/policy/gate-policy.ts';
import { PURCHASE_POLICY, type PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import {
  RELAY_POLICY,
  TEMPORAL_HEALTH_POLICY,
  type RelayPolicy,
  type TemporalHealthPolicy,
} from '#domain/policy/relay-policy.ts';
import { SWEEP_POLICY, type SweepPolicy } from '#domain/policy/sweep-policy.ts';
import {
  BOOKS_POLICY,
  CATALOGUE_POLICY,
  RECONCILE_POLICY,
  RUNWAY_POLICY,
  WATCH_POLICY,
  type BooksPolicy,
  type CataloguePolicy,
  type ReconcilePolicy,
  type RunwayPolicy,
  type WatchPolicy,
} from '#domain/policy/upkeep-policy.ts';
import {
  OUTBOUND_POLICY,
  WEBHOOK_SECRET_POLICY,
  WEBHOOK_SILENCE_POLICY,
  WEBHOOK_TIMESTAMP_POLICY,
  type OutboundPolicy,
  type WebhookSecretPolicy,
  type WebhookSilencePolicy,
  type WebhookTimestampPolicy,
} from '#domain/policy/webhook-policy.ts';

export interface Policy {
  readonly gate: GatePolicy;
  readonly outbound: OutboundPolicy;
  readonly purchase: PurchasePolicy;
  readonly reconcile: ReconcilePolicy;
  readonly relay: RelayPolicy;
  readonly temporalHealth: TemporalHealthPolicy;
  readonly sweep: SweepPolicy;
  readonly books: BooksPolicy;
  readonly catalogue: CataloguePolicy;
  readonly runway: RunwayPolicy;
  readonly watch: WatchPolicy;
  readonly webhookSecret: WebhookSecretPolicy;
  readonly webhookSilence: WebhookSilencePolicy;
  readonly webhookTimestamp: WebhookTimestampPolicy;
  readonly waiting: WaitingPolicy;
  readonly streams: StreamPolicy;
}

export const DEFAULT_POLICY: Policy = {
  gate: GATE_POLICY,
  outbound: OUTBOUND_POLICY,
  purchase: PURCHASE_POLICY,
  reconcile: RECONCILE_POLICY,
  relay: RELAY_POLICY,
  temporalHealth: TEMPORAL_HEALTH_POLICY,
  sweep: SWEEP_POLICY,
  books: BOOKS_POLICY,
  catalogue: CATALOGUE_POLICY,
  runway: RUNWAY_POLICY,
  watch: WATCH_POLICY,
  webhookSecret: WEBHOOK_SECRET_POLICY,
  webhookSilence: WEBHOOK_SILENCE_POLICY,
  webhookTimestamp: WEBHOOK_TIMESTAMP_POLICY,
  waiting: WAITING_POLICY,
  streams: STREAM_POLICY,
};
