import { circuitNames } from '#domain/gate/circuit.ts';
import {
  CASE_VERDICTS,
  type CaseVerdict,
  judgeAbandon,
  judgeLimitChange,
  judgeRelease,
  judgeResolve,
  judgeRetry,
  type OperatedAttempt,
  type OperatedWork,
  VERDICTS_OF,
} from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/** The service may never finish its work: an operator need not wait until it counts as silent. */
export function judgeableWithoutCase(work: OperatedWork, kind: WorkKind): readonly AttentionReason[] {
  const { status, attempt, openContradiction } = work;
  if (isFinal(status) || openContradiction || NOT_BY_ATTEMPT.has(status)) return [];
  const isRefund = kind === 'cancellation';
  switch (attempt?.state) {
    case 'unknown':
      return ['outcome_unknown'];
    case 'processing':
      return isRefund ? ['outcome_unknown', 'refund_missing'] : ['outcome_unknown'];
    case 'completed':
      return isRefund ? ['refund_missing'] : ['delivery_unavailable'];
    case 'failed':
      return attempt.settled ? [] : ['evidence_unavailable'];
    case undefined:
    case 'prepared':
    // At most until its lease ends.
    case 'sending':
    case 'refused':
      return [];
  }
}

const NOT_BY_ATTEMPT: ReadonlySet<OperatedWork['status']> = new Set(['needs_attention', 'active', 'cancelling']);

type PossibleAction =
  | { readonly action: 'retry' | 'release' | 'abandon' | 'limit' }
  | { readonly action: 'resolve'; readonly reason: AttentionReason };

export function possibleActions(
  work: OperatedWork,
  kind: WorkKind,
  openCases: readonly AttentionReason[],
): PossibleAction[] {
  const reasons = new Set([...openCases, ...judgeableWithoutCase(work, kind)]);
  return [
    ...(judgeRetry(work, false) === 'allowed' ? [{ action: 'retry' } as const] : []),
    ...(KINDS[kind].isPurchase && judgeRelease(work, false) === 'allowed' ? [{ action: 'release' } as const] : []),
    ...(judgeAbandon(work) === 'allowed' ? [{ action: 'abandon' } as const] : []),
    ...[...reasons]
      .filter((reason) => possibleVerdicts(work, kind, reason).length > 0)
      .map((reason) => ({ action: 'resolve', reason }) as const),
    ...(KINDS[kind].isPurchase && work.failure === 'price_above_limit' && judgeLimitChange(work, false) === 'allowed'
      ? [{ action: 'limit' } as const]
      : []),
  ];
}

function possibleVerdicts(work: OperatedWork, kind: WorkKind, reason: AttentionReason): CaseVerdict[] {
  const { attempt } = work;
  // Whether an eSIM is known to be cancelled decides between verdicts, not whether one is possible.
  const known = kind === 'cancellation' ? [false, true] : [undefined];
  return VERDICTS_OF[reason].filter((verdict) =>
    known.some(
      (isCancelled) => judgeResolve(work, { reason, attempt, laterAttempts: [], isCancelled }, verdict) === 'allowed',
    ),
  );
}

export function possibleNow(work: OperatedWork, kind: WorkKind, openCases: readonly AttentionReason[]): string {
  if (isFinal(work.status)) return '';
  const possible = possibleActions(work, kind, openCases);
  if (possible.length > 0) return `Possible now: ${possible.map((each) => nameOf(work, kind, each)).join(', ')}.`;
  if (work.status === 'active') return 'It is active; no action is needed.';
  return 'No action is possible now. It continues automatically, or a case opens. Look again in a minute.';
}

function nameOf(work: OperatedWork, kind: WorkKind, possible: PossibleAction): string {
  if (possible.action === 'limit') return '`limit` (another price limit)';
  if (possible.action !== 'resolve') return `\`${possible.action}\``;
  const verdicts = possibleVerdicts(work, kind, possible.reason);
  return `\`resolve\` with the case \`${possible.reason}\` (${verdicts.join(' or ')})`;
}

interface PossibleCommand {
  readonly command: string;
  readonly effect: string;
  readonly verdicts: readonly (readonly [verdict: string, meaning: string])[];
}

const VERDICTS_ON_PURCHASE = {
  bought: 'The service sold it, and it will be delivered. Add its id at the service: `--help` names the option.',
  not_bought:
    'The service sold nothing for this attempt and keeps no money. It is bought again if a further attempt is ' +
    'allowed and fails otherwise, or ends with `--next abandon`.',
};

const VERDICTS_ON_CANCELLATION = {
  bought: 'The eSIM is cancelled at the service. Its refund is awaited.',
  not_bought: 'The eSIM is not cancelled. The cancellation is requested anew, or ends with `--next abandon`.',
};

export function verdictMeanings(kind: WorkKind): Readonly<Record<CaseVerdict, string>> {
  return { ...CASE_VERDICTS, ...(KINDS[kind].isPurchase ? VERDICTS_ON_PURCHASE : VERDICTS_ON_CANCELLATION) };
}

const EFFECTS: Readonly<Record<Exclude<PossibleAction['action'], 'resolve'>, string>> = {
  retry: 'ends the wait; the usual rules decide what is sent',
  release: 'lets it pass the purchase gate now, past pauses and open circuits',
  abandon: 'ends it for good; nothing was bought',
  limit: 'changes the limit, such as `14.00 USD`, and tries it again',
};

/** The failure classes of the purchase gate, which hold other work too. */
const OF_THE_GATE: ReadonlySet<string> = new Set([...circuitNames, 'purchases_paused', 'spend_limit_reached']);

export function possibleCommands(
  ref: WorkRef,
  waiting: Pick<OperatedWork, 'status' | 'failure'> & {
    readonly attention?: AttentionReason | undefined;
    readonly attempt: OperatedAttempt;
  },
): PossibleCommand[] {
  const { status, failure, attention, attempt } = waiting;
  if (status !== 'held' && status !== 'needs_attention') return [];
  const { command } = KINDS[ref.kind];
  const meanings = verdictMeanings(ref.kind);
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
