import type { Client } from '@temporalio/client';
import type { StartedWork } from '#db/work/rows.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { signalReport, startWork, wakeEndpoint, wakeWork, type WorkStart } from '#temporal/start-work.ts';
import type { EndpointWorkflows, WorkWorkflows } from '#worker/relay/context.ts';

/** Time limit of a call to Temporal; after it the row is tried again. */
const CALL_DEADLINE_MS = 10_000;

/**
 * The relay's access to the workflows of work.
 *
 * @param client client on the worker's connection.
 * @param mayBeEager whether a workflow may start at once in this process, now. Not while any version is current: an
 *   eager start does not ask which one, and would give the run to this process.
 * @param isEnded reads whether the row of work has ended.
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

/** The relay's access to the workflows of webhook endpoints. */
export function endpointWorkflows(client: Client): EndpointWorkflows {
  return {
    wake: (id, options) => client.withDeadline(Date.now() + CALL_DEADLINE_MS, () => wakeEndpoint(client, id, options)),
  };
}
