/** Stands for a payload from an unproven sender. Its content is dropped, so that no workflow can act on it. */

export type PayloadRefusal = 'not_encrypted' | 'altered';

const FIELD = 'reseller.refused_payload';

/** JSON, so that every payload converter can carry it. */
export function refusedPayload(refusal: PayloadRefusal): Readonly<Record<typeof FIELD, PayloadRefusal>> {
  return { [FIELD]: refusal };
}

export function refusalAmong(args: readonly unknown[]): PayloadRefusal | undefined {
  for (const value of args) {
    if (typeof value !== 'object' || value === null || !(FIELD in value)) continue;
    return value[FIELD] === 'altered' ? 'altered' : 'not_encrypted';
  }
  return undefined;
}
