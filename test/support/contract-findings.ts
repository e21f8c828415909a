import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { contractBodies, contractOpenApi, PLAIN, type BodyName, type Schema } from '#test/support/contract-openapi.ts';
import { checkContract, readDocument, type ContractReport, type Finding } from '#upstream/contract-check.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';

type Document = ReturnType<typeof contractOpenApi>;

/** Compares a document with what the product needs. */
export function check(document: unknown, capabilities: Partial<Capabilities> = {}) {
  return checkContract(readDocument(Buffer.from(JSON.stringify(document))), { ...ALL_CAPABILITIES, ...capabilities });
}

/** What a report says about one call. */
export const callOf = ({ calls }: ContractReport, call: EndpointName) => calls.find(({ name }) => name === call);

export function findingsOf(of: EndpointName | EventKind, document: unknown): readonly Finding[] {
  const { calls, events } = check(document);
  return (calls.find(({ name }) => name === of) ?? events.find(({ event }) => event === of))?.findings ?? [];
}

/** The document of the contract, with another schema for one body. */
export function documentWith(body: BodyName, schema: Schema): Document {
  return contractOpenApi(PLAIN, contractBodies().set(body, schema));
}

/** One operation of a document, to be changed. */
export function operation(document: Document, path: string, method = 'post'): Schema {
  return document.paths[path]?.[method] as Schema;
}

/** A finding that makes the document incompatible. */
export const breaking = (
  part: Finding['part'],
  name: string | undefined,
  message: string,
  ...suggestions: string[]
) => ({
  severity: 'breaking',
  part,
  ...(name === undefined ? {} : { name }),
  message,
  ...(suggestions.length === 0 ? {} : { suggestions }),
});
/** A finding that leaves the document compatible. */
export const note = (...parts: Parameters<typeof breaking>) => ({ ...breaking(...parts), severity: 'note' });
