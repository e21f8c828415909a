/** Limits of what is read from one answer of the service. A larger answer is unreadable, so its result is unknown. */
export const ANSWER_LIMITS = {
  /** The largest record of the contract has a few kilobytes. */
  recordBytes: 1_048_576,
  /**
   * For a list or document. A price list of 20,000 packages has about 8 MiB; a worker reads at most 50 answers at a
   * time.
   */
  listBytes: 8 * 1_048_576,
  /** Reading blocks the process: 20,000 items take about a second. */
  listItems: 20_000,
} as const;
