import type { Client } from '@temporalio/client';
import type { StartedWork } from '#db/work/rows.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { signalReport, startWork, wakeEndpoint, wakeWork, type WorkStart } from '#temporal/start-work.ts';
import type { EndpointWorkflows, WorkWorkflows } from '#worker/relay/relay.ts';

/** After this time the row is tried again. */
const CALL_DEADLINE_MS = 10_000;

/**
 * `mayBeEager` must be false while a version is current: an eager start does not ask which one is, and would give the
 * run to this process.
 */
export function workWorkflows(
  client: Client,
  { policy, environment, mayBeEager }: { policy: PurchasePolicy; environment: ServiceMode; mayBeEager: () => boolean },
  isEnded: (work: WorkRef) => Promise<boolean>,
): WorkWorkflows {
  const startOf = (facts: StartedWork): WorkStart => ({ ...facts, environment, policy });
  const within = <Result>(call: () => Promise<Result>) => client.withDeadline(Date.now() + CALL_DEADLINE_MS, call);
  return {
    start: (facts) =>
      within(() => startWork(client, startOf(facts), { eager: mayBeEager(), isEnded: () => isEnded(facts) })),
    wake: (facts) => within(() => wakeWork(client, startOf(facts), { isEnded: () => isEnded(facts) })),
    signalReport: (facts, observation) =>
      within(() => signalReport(client, startOf(facts), observation, { isEnded: () => isEnded(facts) })),
  };
}

export function endpointWorkflows(client: Client): EndpointWorkflows {
  return {
    wake: (id, options) => client.withDeadline(Date.now() + CALL_DEADLINE_MS, () => wakeEndpoint(client, id, options)),
  };
}
