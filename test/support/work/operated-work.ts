import type { OperatedWork } from '#domain/operator/operator-actions.ts';

/** Work that needs attention, without an attempt. */
export const withCase: OperatedWork = {
  status: 'needs_attention',
  attempt: undefined,
  openContradiction: false,
  observationsPending: false,
};
