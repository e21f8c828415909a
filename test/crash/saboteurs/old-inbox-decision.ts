/** The decision about a row of the inbox as it once was; see `judging-from-memory-worker.ts`. */
import type { decideInboxRow as decidesByWhatIsStored } from '#domain/relay/inbox-decision.ts';

export * from '#domain/relay/inbox-decision.ts';

/**
 * Goes by the judgement of this moment: whatever another relay stored with the row, or did with it since it was taken.
 */
export const decideInboxRow: typeof decidesByWhatIsStored = (_row, decision, workEnded) =>
  workEnded || decision === 'known' ? { kind: 'apply', decision } : { kind: 'notify', decision };
