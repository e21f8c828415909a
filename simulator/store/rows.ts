import type { Environment } from '#simulator/store/store.ts';
import type { EsimCancellation, ServiceOrder, ServiceRefund } from '#upstream/contract.ts';

/** Columns are named as on the wire, where the service shows them. Times are epoch milliseconds. */
export interface Tables {
  settings: { readonly name: string; readonly value: string };
  tokens: {
    readonly hash: string;
    readonly environment: Environment;
    readonly device_name: string;
    readonly created_at: number;
    readonly expires_at: number;
  };
  item_changes: ItemChange;
  idempotency_keys: KeyedResult;
  sales: Sale;
  esims: Esim;
  refunds: Refund;
  vpn_subscriptions: Subscription;
  ledger: Movement;
  deliveries: Delivery;
  delivery_attempts: DeliveryAttempt;
  requests: LoggedRequest;
  fault_rules: {
    readonly id: string;
    readonly target: string;
    readonly rule: string;
    readonly profile: number;
    readonly hits: number;
    readonly fired: number;
  };
  behaviours: { readonly id: string; readonly rule: string; readonly used: number };
}

export interface ItemChange {
  readonly kind: 'package' | 'vpn_plan';
  readonly id: number;
  readonly price: string | null;
  readonly available: number | null;
  readonly removed: number | null;
  readonly added: string | null;
}

export interface KeyedResult {
  readonly environment: Environment;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly created_at: number;
}

export const SALE_KINDS = ['order', 'topup', 'vpn'] as const;
export type SaleKind = (typeof SALE_KINDS)[number];

export interface Sale {
  readonly sequence: number;
  readonly id: string;
  readonly environment: Environment;
  readonly kind: SaleKind;
  /** A top-up has none. */
  readonly reference: string | null;
  readonly item_id: number;
  readonly status: ServiceOrder['status'];
  readonly price: string;
  readonly currency: string;
  /** Delivered by an order, or recharged by a top-up. */
  readonly esim_id: string | null;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  /** Counts from the failure; null for no credit. */
  readonly credit_after_ms: number | null;
  readonly due_at: number | null;
  readonly due_outcome: 'completed' | 'failed' | null;
  readonly credit_due_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Before it is active, only its sale exists. */
export interface Subscription {
  readonly id: string;
  readonly status: 'active' | 'cancelled' | 'expired';
  readonly username: string;
  readonly password: string;
  readonly server: string;
  readonly started_at: number;
  readonly expires_at: number;
  readonly cancelled_at: number | null;
  /** When an accepted cancellation takes effect. */
  readonly cancel_due_at: number | null;
}

export interface Esim {
  readonly sequence: number;
  readonly id: string;
  readonly environment: Environment;
  readonly order_id: string;
  readonly package_id: number;
  readonly iccid: string;
  readonly activation_code: string;
  readonly status: 'available' | 'installed' | 'active' | 'consumed' | 'cancelled';
  readonly installed_at: number | null;
  readonly activated_at: number | null;
  readonly expires_at: number | null;
  /** Until `used_at`. An active eSIM has used more since. */
  readonly used_mb: number;
  readonly used_at: number | null;
  readonly created_at: number;
}

export interface Refund {
  readonly sequence: number;
  readonly id: string;
  readonly environment: Environment;
  readonly esim_id: string;
  readonly order_id: string;
  readonly cancellation: EsimCancellation['status'];
  readonly status: ServiceRefund['status'];
  readonly review: NonNullable<ServiceRefund['review']> | null;
  readonly amount: string;
  readonly currency: string;
  /** JSON: the conditions that were not met when the cancellation was requested. */
  readonly unmet: string;
  readonly due_at: number | null;
  /** The end of the review, or the payment of the refund. */
  readonly due_step: 'accept' | 'refuse' | 'review' | 'pay' | 'fail' | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface Movement {
  readonly sequence: number;
  readonly id: string;
  readonly environment: Environment;
  readonly type: 'debit' | 'credit';
  readonly amount: string;
  readonly currency: string;
  readonly balance_after: string;
  /** `order`, `topup`, `vpn`, `refund`, `deposit` or another text. */
  readonly reason: string;
  readonly order_id: string | null;
  readonly external_order_id: string | null;
  readonly esim_id: string | null;
  readonly topup_id: string | null;
  readonly refund_id: string | null;
  readonly vpn_subscription_id: string | null;
  readonly external_subscription_id: string | null;
  readonly created_at: number;
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'lost', 'no_target'] as const;

export interface Delivery {
  readonly sequence: number;
  readonly id: string;
  readonly environment: Environment;
  readonly event: string;
  /** Deliveries of one subject are sent one after the other. */
  readonly subject: string | null;
  readonly header_event: string;
  readonly body: Uint8Array;
  /** Intended defects, as JSON. */
  readonly fault: string | null;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly attempts: number;
  /** 1: waits until another event of its subject is delivered. */
  readonly held: number;
  readonly sending: number;
  /** First signature, by the machine's clock. */
  readonly signed_at: number | null;
  readonly next_attempt_at: number | null;
  readonly created_at: number;
}

export interface DeliveryAttempt {
  readonly delivery_id: string;
  readonly sent_at: number;
  readonly timestamp: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
}

/** The body is not stored: it may contain an IMEI or a password. */
export interface LoggedRequest {
  readonly sequence: number;
  readonly environment: Environment;
  readonly method: string;
  readonly path: string;
  /** Null for requests outside the contract. */
  readonly endpoint: string | null;
  readonly idempotency_key: string | null;
  readonly body_sha256: string;
  readonly body_bytes: number;
  readonly received_at: number;
  /** Null when no work was executed. */
  readonly result_status: number | null;
  /** Null when no answer was sent. */
  readonly status: number | null;
  readonly faults: string | null;
}
