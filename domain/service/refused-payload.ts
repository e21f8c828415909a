/**
 * What the worker's payload codec hands to a workflow in the place of a payload that proves nothing about its sender.
 * The payload's own content is dropped: no workflow code can act on it by mistake.
 */

/** Why a payload is refused: it came as plain text, or it opens with none of the keys it could have been made with. */
export type PayloadRefusal = 'not_encrypted' | 'altered';

const FIELD = 'reseller.refused_payload';

/** @returns the value that stands in for the payload: JSON, so that every payload converter can carry it. */
export function refusedPayload(refusal: PayloadRefusal): Readonly<Record<typeof FIELD, PayloadRefusal>> {
  return { [FIELD]: refusal };
}

/** @returns why one of these arguments was refused; undefined when all of them came encrypted. */
export function refusalAmong(args: readonly unknown[]): PayloadRefusal | undefined {
  for (const value of args) {
    if (typeof value !== 'object' || value === null || !(FIELD in value)) continue;
    return value[FIELD] === 'altered' ? 'altered' : 'not_encrypted';
  }
  return undefined;
}
