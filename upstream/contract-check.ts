/** Compares an OpenAPI document with the contract, for `reseller contract check` and `reseller doctor`. */
export { checkContract } from '#upstream/contract-check/check.ts';
export { readDocument, UnreadableDocument, type JsonObject } from '#upstream/contract-check/schema/document.ts';
export { VALUES_NOT_LISTED } from '#upstream/contract-check/findings.ts';
export type {
  CallReport,
  CallStatus,
  ContractReport,
  EventReport,
  Finding,
} from '#upstream/contract-check/findings.ts';
