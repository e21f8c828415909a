import type { Executor } from '#db/connection/database.ts';
import type { AttemptRow, WorkRow } from '#db/work/rows.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { Report } from '#domain/relay/observation.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import * as cancellation from '#fulfilment/purchase/cancellation.ts';
import type { PurchaseDependencies, WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { Found, LookUpResult } from '#fulfilment/purchase/listing.ts';
import type { Offer } from '#fulfilment/purchase/offer.ts';
import * as order from '#fulfilment/purchase/order.ts';
import { completeCancellation } from '#fulfilment/purchase/refund.ts';
import * as topup from '#fulfilment/purchase/topup.ts';
import * as vpnSubscription from '#fulfilment/purchase/vpn-subscription.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** What differs between the kinds of work, mostly their calls of the service. `row` has all columns of its kind. */
interface ServiceCalls {
  /** `number` is from 1. */
  prepare(dependencies: WorkDependencies, db: Executor, row: WorkRow, number: number): Promise<Prepared>;
  /** Just before a send. With `priceNeeded` the price comes from no cache. */
  examine(dependencies: PurchaseDependencies, row: WorkRow, priceNeeded: boolean): Promise<Offer>;
  /** The stored bytes are sent as they are. The client does not send when its deadline would end after the lease. */
  send(
    dependencies: WorkDependencies,
    attempt: AttemptRow,
    row: WorkRow,
    body: Buffer,
    leaseLeftMs: () => number,
  ): Promise<ServiceResult<Report>>;
  lookUp(dependencies: WorkDependencies, attempt: AttemptRow): Promise<LookUpResult>;
  /**
   * In the newest pages of the list, for kinds with a reference of ours. At least one attempt. @returns by the id of
   * the attempt; undefined when the list cannot be read. One that they do not clearly show needs a single look-up.
   */
  readonly lookUpMany?: (
    dependencies: WorkDependencies,
    attempts: readonly AttemptRow[],
    maxPages: number,
  ) => Promise<ReadonlyMap<string, Found> | undefined>;
  complete(dependencies: WorkDependencies, attempt: AttemptRow, applied: readonly string[]): Promise<CompletionResult>;
}

interface Prepared {
  /** Undefined where the interface takes none. */
  readonly reference: string | undefined;
  /** Where the eSIM exists before the purchase. */
  readonly serviceEsimId?: string;
  /** The exact bytes. */
  readonly body: Buffer;
}

export const SERVICE_CALLS: Readonly<Record<WorkKind, ServiceCalls>> = {
  order,
  topup,
  vpn_subscription: vpnSubscription,
  cancellation: {
    prepare: cancellation.prepare,
    examine: cancellation.examine,
    send: cancellation.send,
    lookUp: cancellation.lookUp,
    complete: completeCancellation,
  },
};
