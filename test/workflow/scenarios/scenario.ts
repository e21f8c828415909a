/** Common parts of the scenarios that `record-histories.ts` records. */
import type { PayloadCodec } from '@temporalio/common';
import type { ProcessSettings } from '#test/support/servers/policy-files.ts';
import type { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';
import { decodedHistory, textsOf } from '#test/support/work/workflows/histories.ts';
import type { WaitName } from '#workflows/wait-names.ts';

/** A run of a workflow that is not the last one. */
export interface OneRun {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Runs a workflow through one sequence of steps.
 *
 * @returns the id of the work or webhook endpoint whose last run is recorded, or another run.
 */
export type Scenario = (desk: OrderDesk, temporal: TemporalUi) => Promise<string | OneRun>;

/** An operator at the Temporal UI. */
export class TemporalUi {
  readonly operator: TemporalOperator;
  readonly #codec: PayloadCodec;

  constructor(operator: TemporalOperator, codec: PayloadCodec) {
    this.operator = operator;
    this.#codec = codec;
  }

  /** The newest run. @param id the id of work. */
  of(id: string) {
    return this.operator.order(id);
  }

  /** Waits until the newest run waits under this name. @param id the id of work. */
  async waits(id: string, name: WaitName): Promise<void> {
    await waitFor(`${id} waits: ${name}`, async () => {
      const history = await decodedHistory(await this.of(id).fetchHistory(), this.#codec);
      return textsOf(history).includes(JSON.stringify(name));
    });
  }
}

export const ADA = { by: 'Ada', reason: 'a test' } as const;

/** Runs a scenario with other settings of the worker. Work that begins meanwhile keeps its policy. */
export function withWorker(settings: ProcessSettings, scenario: Scenario): Scenario {
  return async (desk, temporal) => {
    await restartWorker(desk, settings);
    try {
      return await scenario(desk, temporal);
    } finally {
      await restartWorker(desk);
    }
  };
}

async function restartWorker({ stack }: OrderDesk, settings: ProcessSettings = {}): Promise<void> {
  await stack.process('worker').stop();
  await stack.start('worker', settings);
}
