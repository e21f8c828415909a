/** The check of a real OpenAPI document against the contract; what `reseller contract check` and `doctor` print. */
export { checkContract } from '#upstream/contract-check/check.ts';
export { readDocument, UnreadableDocument, type JsonObject } from '#upstream/contract-check/schema/document.ts';
export { WORDS_NOT_LISTED } from '#upstream/contract-check/findings.ts';
export type {
  CallReport,
  CallStatus,
  ContractReport,
  EventReport,
  Finding,
} from '#upstream/contract-check/findings.ts';
