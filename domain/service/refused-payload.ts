/**
 * The value that the worker's payload codec passes to a workflow instead of a payload from an unproven sender. The
 * content of the payload is dropped, so that no workflow code can act on it by mistake.
 */

/** Why a payload is refused: it is plain text, or no key decrypts it. */
export type PayloadRefusal = 'not_encrypted' | 'altered';

const FIELD = 'reseller.refused_payload';

/** @returns the value that stands in for the payload: JSON, so that every payload converter can carry it. */
export function refusedPayload(refusal: PayloadRefusal): Readonly<Record<typeof FIELD, PayloadRefusal>> {
  return { [FIELD]: refusal };
}

/**
 * The refusal among the arguments of a signal or update.
 * @returns undefined when all arguments were encrypted.
 */
export function refusalAmong(args: readonly unknown[]): PayloadRefusal | undefined {
  for (const value of args) {
    if (typeof value !== 'object' || value === null || !(FIELD in value)) continue;
    return value[FIELD] === 'altered' ? 'altered' : 'not_encrypted';
  }
  return undefined;
}
