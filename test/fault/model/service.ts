/** Commands of the service, and faults of the network. */
import fc from 'fast-check';
import { command, hasWork } from '#test/fault/model/command.ts';

/** Faults whose answer does not show the result. Two of the four buy nothing. */
const LOST_ANSWERS = [
  { kind: 'accepted_but_answer_lost' },
  { kind: 'server_error', after_work: true },
  { kind: 'server_error' },
  { kind: 'connection_reset' },
] as const;
export const lostAnswer = fc.constantFrom(...LOST_ANSWERS);
export const purchaseFault = fc.constantFrom(
  ...LOST_ANSWERS,
  { kind: 'truncated_body' } as const,
  { kind: 'rate_limited', retry_after: 1 } as const,
  { kind: 'latency', ms: 700, at: 'answer' } as const,
);

export const purchaseTrouble = fc
  .record({
    endpoint: fc.constantFrom(...(['createOrder', 'createTopup', 'createVpnOrder', 'cancelEsim'] as const)),
    fault: purchaseFault,
    count: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ endpoint, fault, count }) =>
    command(`the next ${count} of ${endpoint} end in ${fault.kind}`, (_model, world) =>
      world.desk.simulator.onRequest(endpoint, fault, { count }),
    ),
  );

export const webhookTrouble = fc
  .constantFrom(
    { kind: 'lost' } as const,
    { kind: 'late', ms: 900 } as const,
    { kind: 'twice' } as const,
    { kind: 'out_of_order', ms: 900 } as const,
    { kind: 'forged' } as const,
    { kind: 'stale_timestamp' } as const,
  )
  .map((fault) =>
    command(`the next webhook is ${fault.kind}`, (_model, world) => world.desk.simulator.onWebhook(undefined, fault)),
  );

export const purchaseOutcome = fc
  .record({
    operation: fc.constantFrom('order' as const, 'topup' as const, 'vpn' as const),
    rule: fc.constantFrom(
      { outcome: 'failed_at_once' } as const,
      { outcome: 'failed_at_once', debited: false } as const,
      { outcome: 'failed_at_once', credit_after_ms: null } as const,
      { outcome: 'processing_then_failed', delay_ms: 200 } as const,
    ),
  })
  .map(({ operation, rule }) =>
    command(`the next ${operation} is ${JSON.stringify(rule)}`, (_model, world) =>
      world.desk.simulator.nextPurchases({ operation, ...rule }),
    ),
  );

/** The result of the next cancellation. By default the service decides by the state of the eSIM. */
export const cancellationOutcome = fc
  .constantFrom(
    { operation: 'cancellation', outcome: 'accepted', delay_ms: 300 } as const,
    { operation: 'cancellation', outcome: 'processing_then_accepted', delay_ms: 200 } as const,
    { operation: 'cancellation', outcome: 'manual_review' } as const,
    { operation: 'cancellation', outcome: 'manual_review_then_refused', delay_ms: 200 } as const,
    { operation: 'cancellation', outcome: 'refused' } as const,
    { operation: 'cancellation', outcome: 'refund_failed' } as const,
    { operation: 'vpn_cancellation', outcome: 'refused' } as const,
  )
  .map((rule) =>
    command(`the next ${rule.operation} is ${rule.outcome}`, (_model, world) =>
      world.desk.simulator.nextPurchases(rule),
    ),
  );

export const readsFail = fc.constant(command('the service reports nothing', (_model, world) => world.silence()));
export const noFaults = fc.constant(command('the service has no faults', (_model, world) => world.calm()));

export const repeatedWebhook = fc.nat().map((which) =>
  command(
    `webhook ${which} is repeated`,
    async (_model, world) => {
      const sent = (await world.desk.simulator.webhooks()).filter(({ status }) => status !== 'pending');
      if (sent.length > 0) await world.desk.simulator.replayDelivery(sent[which % sent.length]!.id);
    },
    hasWork,
  ),
);

/** The service sends a report that contradicts an earlier one. */
export const contradiction = fc.nat().map((which) =>
  command(
    `the service reports the opposite for sale ${which}`,
    async (_model, world) => {
      const ended = (await world.desk.simulator.orders()).filter(({ status }) => status !== 'processing');
      const sale = ended[which % Math.max(ended.length, 1)];
      if (sale === undefined) return;
      const status = sale.status === 'completed' ? 'failed' : 'completed';
      const data = {
        id: sale.id,
        external_order_id: sale.external_order_id,
        status,
        ...(status === 'completed' ? { esim_id: 'esim-none' } : {}),
      };
      await world.desk.simulator.sendWebhook({ event: `order.${status}`, data });
    },
    hasWork,
  ),
);

/** Gives work time to continue before the next command. */
export const timePasses = fc.nat().map((which) =>
  command(
    `until ${which} has continued`,
    async (model, world) => {
      const index = which % model.work.length;
      const { status } = await world.show(model, index);
      // A limited number of reads, because the work may wait for a later command.
      for (let looks = 0; looks < 8 && (await world.show(model, index)).status === status; looks += 1);
    },
    hasWork,
  ),
);
