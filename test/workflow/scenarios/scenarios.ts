import type { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { ESIMS } from '#test/workflow/scenarios/esims.ts';
import { ORDERS } from '#test/workflow/scenarios/orders.ts';
import { OUTAGES } from '#test/workflow/scenarios/outages.ts';
import { PURCHASES } from '#test/workflow/scenarios/purchases.ts';
import type { OneRun, Scenario } from '#test/workflow/scenarios/scenario.ts';
import { SUBSCRIPTIONS } from '#test/workflow/scenarios/subscriptions.ts';
import { WEBHOOKS } from '#test/workflow/scenarios/webhooks.ts';
import { MAINTENANCE_WORKFLOWS } from '#workflows/messages.ts';

/** All scenarios, by the names of their histories. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...PURCHASES,
  ...SUBSCRIPTIONS,
  ...OUTAGES,
  ...ORDERS,
  ...ESIMS,
  ...WEBHOOKS,
  ...Object.fromEntries(
    Object.entries(MAINTENANCE_WORKFLOWS).map(([schedule, workflow]) => scheduled(schedule, workflow)),
  ),
};

function scheduled(schedule: string, workflow: string): [string, Scenario] {
  return [`scheduled-${schedule}`, (_desk, { operator }) => scheduledRun(operator, schedule, workflow)];
}

async function scheduledRun({ client }: TemporalOperator, schedule: string, workflow: string): Promise<OneRun> {
  await client.schedule.getHandle(schedule).trigger();
  return waitFor(`the schedule ${schedule} has run`, async () => {
    const query = `WorkflowType = '${workflow}' AND ExecutionStatus = 'Completed'`;
    for await (const { workflowId, runId } of client.workflow.list({ query })) return { workflowId, runId };
    return undefined;
  });
}
