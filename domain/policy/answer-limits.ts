/** Limits of what is read from one answer of the service. A larger answer is unreadable, so its result is unknown. */
export interface AnswerLimits {
  /** The largest record of the contract has a few kilobytes. */
  readonly recordBytes: number;
  /**
   * For a list or document. A price list of 20,000 packages has about 8 MiB; a worker reads at most 50 answers at a
   * time.
   */
  readonly listBytes: number;
  /** Reading blocks the process: 20,000 items take about a second. */
  readonly listItems: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  recordBytes: 1_048_576,
  listBytes: 8 * 1_048_576,
  listItems: 20_000,
};
