/** The calls of the API about each kind of work: one entry for each kind, in the order of the description. */
import { cancellationOperations } from '#api/cancellations/cancellations.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { topupOperations } from '#api/esims/topups.ts';
import type { Operation } from '#api/http/operation.ts';
import { orderOperations } from '#api/orders/orders.ts';
import { vpnPlanOperations } from '#api/vpn/vpn-plans.ts';
import { vpnSubscriptionOperations } from '#api/vpn/vpn-subscriptions.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

const OPERATIONS: Readonly<Record<WorkKind, (dependencies: ApiDependencies) => readonly Operation[]>> = {
  order: orderOperations,
  topup: topupOperations,
  vpn_subscription: (dependencies) => [...vpnPlanOperations(dependencies), ...vpnSubscriptionOperations(dependencies)],
  cancellation: cancellationOperations,
};

/** All calls about work of every kind. */
export function operationsOfWork(dependencies: ApiDependencies): Operation[] {
  return Object.values(OPERATIONS).flatMap((operationsOf) => operationsOf(dependencies));
}
