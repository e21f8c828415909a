import type { CancellationReport } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { ObservedOutcome, SubscriptionEnd } from '#domain/relay/observation.ts';
import type { ServiceReason } from '#domain/work/foreign-text.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** An event of the service about a purchase of any kind, in our terms. */
export interface PurchaseEvent {
  readonly kind: WorkKind;
  readonly outcome: ObservedOutcome;
  /** The service's id of the purchase; for a cancellation, the id of its refund, if named. */
  readonly serviceId?: string;
  /** Our reference, as sent with an attempt. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
  /** Id of the package or the VPN plan. */
  readonly productId?: number;
  /** The amount charged to the reseller. */
  readonly charged?: Money;
  /** The reason of a failure, in the words of the service. */
  readonly reason?: ServiceReason;
  /** How a subscription has ended. */
  readonly endedAs?: SubscriptionEnd;
  /** Access data of a subscription, as the service names them; personal data. */
  readonly access?: Readonly<Record<string, string | null | undefined>>;
  /** Times of a subscription. */
  readonly startedAt?: string;
  readonly expiresAt?: string;
  /** The report about a cancellation; `outcome` follows from this report alone. */
  readonly cancellation?: CancellationReport & { readonly serviceRefundId?: string; readonly refunded?: Money };
  /** The conditions of a refund that are not met, in the words of the service. */
  readonly unmetConditions?: readonly string[];
}
