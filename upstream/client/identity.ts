/** Decides whether an answer is about what we sent or asked for. */
import { isFormOf } from '#domain/work/identifiers.ts';
import type { Match } from '#upstream/client/error-mapping.ts';

/** Compares a read by id. */
export function sameId(id: string): Match<{ readonly id: string }> {
  return (value) => (value.id === id ? {} : { contradiction: 'its id is not the one that was asked for' });
}

/**
 * Compares a read of an eSIM. What is answered under the path of an eSIM is about this eSIM, although its record may
 * have another id of its own, such as its ICCID. Who stores the record has to check that it belongs to no other eSIM.
 */
export function esimUnderPath<Field extends string>(
  field: Field,
  id: string,
): Match<{ readonly [Name in Field]?: string | null | undefined }> {
  return (value) => ((value[field] ?? id) === id ? {} : { differing: [field] });
}

/** The fields whose values identify what was sent; the others must be equal. */
type How = 'reference' | 'esim' | 'equal';

const HOW: Readonly<Record<string, How>> = {
  external_order_id: 'reference',
  external_subscription_id: 'reference',
  esim_id: 'esim',
};

/**
 * Compares the answer to a send, which may repeat fields of the request. A field that the answer lacks is accepted. The
 * answer came on our connection, to our key, so our reference may have another case or be cut at its end, and the eSIM
 * may have another id of its own. A product that was not sent contradicts the request.
 *
 * @param sent the sent value of each field.
 */
export function sameWhereNamed<Fields extends Readonly<Record<string, string | number>>>(
  sent: Fields,
): Match<{ readonly [Field in keyof Fields]?: Fields[Field] | null | undefined }> {
  return (value) => {
    const others = Object.entries(sent).filter(([field, ours]) => (value[field] ?? ours) !== ours);
    const wrong = others.filter(([field, ours]) => !isSame(HOW[field] ?? 'equal', String(ours), String(value[field])));
    if (wrong.length > 0) return { contradiction: `its ${named(wrong).join(' and ')} is not what was sent` };
    return others.length === 0 ? {} : { differing: named(others) };
  };
}

function isSame(how: How, ours: string, theirs: string): boolean {
  return how === 'esim' || (how === 'reference' && isFormOf(ours, theirs));
}

function named(entries: readonly (readonly [string, unknown])[]): readonly string[] {
  return entries.map(([field]) => field);
}
