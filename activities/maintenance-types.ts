/** The activities of the scheduled workflows. */
export interface MaintenanceActivities {
  /** Asks the service about silent attempts; what is new goes into the inbox like a webhook. */
  reconcileSilentWork(): Promise<{ asked: number; news: number }>;
  /** Asks for the start of unfinished work that nothing was heard of for a while. */
  requestIdleWork(): Promise<{ requested: number }>;
  /** Forgets answers kept for repeated requests of our callers once nobody repeats them any more. */
  forgetOldAnswers(): Promise<{ forgotten: number }>;
}
