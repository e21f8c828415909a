/** The commands by which an operator acts on work that waits, for the Temporal UI. */
import { circuitNames } from '#domain/gate/circuit.ts';
import { CASE_VERDICTS, type OperatedAttempt } from '#domain/operator/operator-actions.ts';
import { possibleActions, possibleVerdicts, type PossibleAction } from '#domain/operator/possible-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** Work that waits for a condition or for a person, as its workflow knows it. */
export interface WaitingWork {
  readonly status: WorkStatus;
  readonly failure?: FailureClass | undefined;
  /** Reason of its open case. */
  readonly attention?: AttentionReason | undefined;
  readonly attempt: OperatedAttempt;
}

/** A command, what it does, and for `resolve` the verdicts with their meanings. */
export interface PossibleCommand {
  readonly command: string;
  readonly effect: string;
  readonly verdicts: readonly (readonly [verdict: string, meaning: string])[];
}

const EFFECTS: Readonly<Record<Exclude<PossibleAction['action'], 'resolve'>, string>> = {
  retry: 'ends the wait; the usual rules decide what is sent',
  release: 'lets it pass the purchase gate now, past pauses and open circuits',
  abandon: 'ends it for good; nothing was bought',
  limit: 'changes the limit, such as `14.00 USD`, and tries it again',
};

/** The failure classes of the purchase gate, which hold other work too. */
const OF_THE_GATE: ReadonlySet<string> = new Set([...circuitNames, 'purchases_paused', 'spend_limit_reached']);

/** @returns none for work that does not wait. */
export function possibleCommands(ref: WorkRef, waiting: WaitingWork): PossibleCommand[] {
  const { status, failure, attention, attempt } = waiting;
  if (status !== 'held' && status !== 'needs_attention') return [];
  const { command, texts } = KINDS[ref.kind];
  const meanings = { ...CASE_VERDICTS, ...texts.verdicts };
  const work = {
    status,
    attempt,
    failure,
    openContradiction: attention === 'contradiction',
    observationsPending: false,
  };
  const of = (action: string, options = '') => `npx reseller ${command} ${action} ${ref.id}${options} --reason '…'`;
  const plain = (line: string, effect: string) => ({ command: line, effect, verdicts: [] });
  const actions = possibleActions(work, ref.kind, attention === undefined ? [] : [attention]);
  return [
    ...actions.map((possible): PossibleCommand => {
      if (possible.action === 'limit') return plain(of('limit', " '…'"), EFFECTS.limit);
      if (possible.action !== 'resolve') return plain(of(possible.action), EFFECTS[possible.action]);
      const verdicts = possibleVerdicts(work, ref.kind, possible.reason);
      return {
        command: of('resolve', ` --case ${possible.reason} --verdict …`),
        effect: 'records the fact, with one of these verdicts',
        verdicts: verdicts.map((verdict) => [verdict, meanings[verdict]]),
      };
    }),
    ...(attention === 'message_quarantined'
      ? [plain('npx reseller dead-letters list', 'shows what is quarantined, and why')]
      : []),
    ...(status === 'held' && failure !== undefined && OF_THE_GATE.has(failure)
      ? [plain('npx reseller gate show', 'shows what holds all purchases, and until when')]
      : []),
  ];
}
