import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import type { FinalStatus } from '#domain/work/lifecycle.ts';

/** How work ended. */
export interface WorkEnd {
  readonly status: FinalStatus;
  /** The eSIM that was delivered or recharged. */
  readonly esimId?: string;
  readonly failure?: FailureClass;
  readonly endedBy?: FailureEnd;
}
