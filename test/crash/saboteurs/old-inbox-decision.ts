/** The former decision about a row of the inbox; see `stale-judgement-worker.ts`. */
import type { decideInboxRow as decidesByWhatIsStored } from '#domain/relay/relay-decision.ts';

export * from '#domain/relay/relay-decision.ts';

/** Uses only the present judgement, and ignores the data and state that another relay has stored with the row. */
export const decideInboxRow: typeof decidesByWhatIsStored = (_row, decision, workEnded) =>
  workEnded || decision === 'known' ? { kind: 'apply', decision } : { kind: 'notify', decision };
