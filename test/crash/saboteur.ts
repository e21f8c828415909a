import type { CrashPlan } from '#test/crash/plans/plan.ts';
import type { KilledProcess } from '#test/crash/plans/points.ts';

/** A deliberate defect of the product, which the audit must find. */
export interface Sabotage {
  /** Entry points instead of the usual ones. */
  readonly scripts?: Partial<Readonly<Record<KilledProcess, string>>>;
  /** Statements for the database before the processes start. */
  readonly sql?: readonly string[];
}

/** A defect with the plan that must detect it. */
export interface Saboteur {
  /** How long to wait for the end of work, in milliseconds, where the defect stops the work for ever. */
  readonly stuckAfterMs?: number;
  readonly sabotage: Sabotage;
  readonly plan: CrashPlan;
  readonly caughtBy: RegExp;
}
