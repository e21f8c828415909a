/** The calls of the API about each kind of work: one entry for each kind, in the order of the description. */
import { cancellationOperations } from '#api/cancellations/cancellations.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { topupOperations } from '#api/esims/topups.ts';
import type { Operation } from '#api/http/operation.ts';
import type { Offers } from '#api/offers/offers.ts';
import { orderOperations } from '#api/orders/orders.ts';
import { vpnSubscriptionOperations } from '#api/vpn/vpn-subscriptions.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

type OperationsOf = (dependencies: ApiDependencies, offers: Offers) => readonly Operation[];

const OPERATIONS: Readonly<Record<WorkKind, OperationsOf>> = {
  order: orderOperations,
  topup: topupOperations,
  vpn_subscription: vpnSubscriptionOperations,
  cancellation: cancellationOperations,
};

/** All calls about work of every kind. */
export function operationsOfWork(dependencies: ApiDependencies, offers: Offers): Operation[] {
  return Object.values(OPERATIONS).flatMap((operationsOf) => operationsOf(dependencies, offers));
}
