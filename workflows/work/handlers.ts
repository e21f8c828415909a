import { setHandler } from '@temporalio/workflow';
import { KINDS } from '#domain/work/kinds.ts';
import {
  explainQuery,
  operatorActedSignal,
  memoryQuery,
  serviceObservedSignal,
  type PurchaseWorkflowInput,
} from '#workflows/messages.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/operator/handler-descriptions.ts';
import { handleOperatorUpdates } from '#workflows/operator/operator-updates.ts';
import { ObservationQueue } from '#workflows/work/observation-queue.ts';
import { Progress } from '#workflows/work/progress.ts';
import { RunMemory } from '#workflows/work/run-memory.ts';

export interface RunParts {
  readonly input: PurchaseWorkflowInput;
  readonly memory: RunMemory;
  readonly observations: ObservationQueue;
  readonly progress: Progress;
  /** Since this run began. */
  readonly actions: { count: number };
}

export function registerHandlers(input: PurchaseWorkflowInput): RunParts {
  const { work, carried } = input;
  const parts: RunParts = {
    input,
    memory: new RunMemory(input),
    observations: new ObservationQueue(),
    progress: new Progress(work, {
      status: 'submitting',
      now: `The ${KINDS[work.kind].noun} was accepted and is being sent to the service.`,
      next: 'The answer of the service.',
    }),
    // An action that the last run did not handle ends the first wait of this run.
    actions: { count: carried?.hasNewAction === true ? 1 : 0 },
  };
  const { memory, observations, progress, actions } = parts;
  const acted = () => void (actions.count += 1);
  const { serviceObserved, operatorActed, explain, memory: ofMemory } = HANDLER_DESCRIPTIONS;
  setHandler(serviceObservedSignal, (observation) => observations.offer(observation), { description: serviceObserved });
  setHandler(operatorActedSignal, acted, { description: operatorActed });
  setHandler(explainQuery, () => progress.explanation(), { description: explain });
  setHandler(memoryQuery, () => memory.handedOn, { description: ofMemory });
  handleOperatorUpdates({ work, progress, acted });
  return parts;
}
