/** Scenarios of cancellations of eSIMs. */
import { ADA, type Scenario } from '#test/workflow/scenarios/scenario.ts';
import { retryUpdate } from '#workflows/messages.ts';

export const CANCELLATIONS: Readonly<Record<string, Scenario>> = {
  'cancellation-held-then-not-sent': async (desk, temporal) => {
    const esimId = await desk.newEsim();
    await desk.simulator.onRequest('getEsimUsage', { kind: 'server_error' }, { count: null });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'held');
    await desk.simulator.simulateEsim(await desk.esimAtService(esimId), 'consumed');
    await desk.simulator.calm();
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await desk.cancellationReaches(id, 'refused');
    return id;
  },

  'cancellation-refused': async (desk) => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({
      operation: 'cancellation',
      outcome: 'manual_review_then_refused',
      delay_ms: 500,
    });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'refused');
    return id;
  },

  'cancellation-looked-up': async (desk) => {
    const esimId = await desk.newEsim();
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('cancelEsim', { kind: 'accepted_but_answer_lost' });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    return id;
  },
};
