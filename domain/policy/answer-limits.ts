/** Limits of what is read from one answer of the service. A larger answer is unreadable, so its result is unknown. */
export interface AnswerLimits {
  /** Bytes of an answer with one record. The largest record of the contract has a few kilobytes. */
  readonly recordBytes: number;
  /**
   * Bytes of a page of a list, or of an OpenAPI document. A page of 100 packages has about 50 KB. A service without
   * pages sends its whole price list at once: 20,000 packages have about 8 MiB. A worker reads at most 50 answers at a
   * time, so that even 50 such lists fit into its memory.
   */
  readonly listBytes: number;
  /** Items of a page. Reading an item blocks the process: 20,000 of them block it for about a second. */
  readonly listItems: number;
}

export const ANSWER_LIMITS: AnswerLimits = {
  recordBytes: 1_048_576,
  listBytes: 8 * 1_048_576,
  listItems: 20_000,
};
