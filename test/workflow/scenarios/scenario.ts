/** What the ways are made of that `record-histories.ts` records. */
import { randomUUID } from 'node:crypto';
import type { PayloadCodec } from '@temporalio/common';
import type { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';
import { decodedHistory, textsOf } from '#test/support/work/workflows/histories.ts';
import type { WaitName } from '#workflows/wait-names.ts';

/** One run of a workflow that is not the last of a piece of work. */
export interface OneRun {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Brings about one way that a workflow can go.
 *
 * @returns the id of the work, or of the webhook endpoint, whose last run is recorded; or another run.
 */
export type Scenario = (desk: OrderDesk, temporal: TemporalUi) => Promise<string | OneRun>;

/** A person at the Temporal UI. */
export class TemporalUi {
  readonly operator: TemporalOperator;
  readonly #codec: PayloadCodec;

  constructor(operator: TemporalOperator, codec: PayloadCodec) {
    this.operator = operator;
    this.#codec = codec;
  }

  /** The newest run. @param id of a piece of work. */
  of(id: string) {
    return this.operator.order(id);
  }

  /** Until the newest run has begun to wait under this name. @param id of a piece of work. */
  async waits(id: string, name: WaitName): Promise<void> {
    await waitFor(`${id} waits: ${name}`, async () => {
      const history = await decodedHistory(await this.of(id).fetchHistory(), this.#codec);
      return textsOf(history).includes(JSON.stringify(name));
    });
  }
}

/** What a person gives with every act. */
export const ADA = { by: 'Ada', reason: 'a test' } as const;

/** The same with a worker of other settings; what begins meanwhile keeps those of the policy. */
export function withWorker(settings: Readonly<Record<string, string>>, scenario: Scenario): Scenario {
  return async (desk, temporal) => {
    await restartWorker(desk, settings);
    try {
      return await scenario(desk, temporal);
    } finally {
      await restartWorker(desk);
    }
  };
}

async function restartWorker({ stack }: OrderDesk, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  await stack.process('worker').stop();
  await stack.start('worker', settings);
}

/** Stops all buying. @returns what lets it go on. */
export async function pauseBuying({ stack }: OrderDesk): Promise<() => Promise<void>> {
  const id = (
    await stack.api.post(
      '/v1/purchase-gate/pauses',
      { reason: 'Stock-taking.' },
      { headers: { 'idempotency-key': randomUUID() } },
    )
  ).textAt('id');
  return async () => {
    await stack.api.post(`/v1/purchase-gate/pauses/${id}/release`, { reason: 'Done.' });
  };
}
