/**
 * Random sequences of commands of callers, operators and the service, against the whole product. A longer run:
 * `MODEL_RUNS=20 TEST_SEED=7 npx vitest run --project fault test/fault/model.test.ts`.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import * as callers from '#test/fault/model/callers.ts';
import { watchStatuses } from '#test/fault/model/invariants.ts';
import * as operators from '#test/fault/model/operators.ts';
import * as service from '#test/fault/model/service.ts';
import { World, type Model } from '#test/fault/model/world.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { Seeded } from '#test/support/work/workload.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 2);
const COMMANDS = 45;
const RUN_MS = 600_000;

/** The commands, with their relative frequencies. */
const command = fc.oneof(
  ...(
    [
      [4, callers.order],
      [3, callers.orderInTrouble],
      [2, callers.outcomeUnknown],
      [1, callers.orderTwice],
      [3, callers.topUp],
      [2, callers.subscribe],
      [3, callers.cancelEsim],
      [1, operators.cancelVpn],
      [2, operators.retry],
      [2, operators.release],
      [1, operators.pauseBuying],
      [3, operators.resumeBuying],
      [1, operators.abandon],
      [1, operators.changeLimit],
      [1, operators.changeRetryPolicy],
      [6, operators.resolve],
      [2, service.purchaseTrouble],
      [2, service.webhookTrouble],
      [2, service.purchaseOutcome],
      [1, service.cancellationOutcome],
      [1, service.readsFail],
      [4, service.noFaults],
      [2, service.repeatedWebhook],
      [1, service.contradiction],
      [6, service.timePasses],
    ] as const
  ).map(([weight, arbitrary]) => ({ weight, arbitrary })),
);
/** Of exactly this length: `fc.commands` would start with short sequences, which find less. */
const sequences = fc.array(command, { minLength: COMMANDS, maxLength: COMMANDS, size: 'max' });

const stack = disposedAtEnd(
  await startStack({
    environment: {
      'reconciler.silent_after': '1s',
      'purchase.resend_window': '1s',
      'purchase.resend_delay': '50ms',
      'books.every': '365d',
      'books.grace': '0s',
      'vpn_subscription.cancel_check': '3s',
    },
    simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
  }),
);
const desk = new OrderDesk(stack);
await watchStatuses(desk);

describe('any sequence of commands', () => {
  it(
    'leaves at most one net debit for each work, allowed transitions only, stable final states, and equal books',
    { timeout: RUNS * RUN_MS },
    async () => {
      const { seed } = new Seeded();
      await fc.assert(
        fc.asyncProperty(sequences, async (commands) => {
          const model: Model = { work: [], pauses: [] };
          const world = new World(desk);
          await world.begin(model, 2);
          await fc.asyncModelRun(() => ({ model, real: world }), commands);
          await world.settle(model);
          const ends = model.work.map(({ kind, ended }) => `${kind} ${ended ?? 'open'}`);
          process.stdout.write(`seed ${seed}: ${commands.join(', ')}\n→ ${ends.join(', ')}\n`);
        }),
        // No shrinking: a run takes minutes, and the stack keeps the data of earlier runs.
        { seed, numRuns: RUNS, endOnFailure: true },
      );
    },
  );
});
