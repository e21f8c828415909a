/** A call of the API as the command line needs it: what its options are, and what they mean. */

/** How an option is written, and what the API gets from it. */
export type FieldKind =
  | 'text'
  | 'integer'
  | 'number'
  | 'flag'
  /** RFC 3339; in a filter also the length of a time span until now. */
  | 'time'
  /** `12.50 USD`. */
  | 'money'
  /** Values with commas between them. */
  | 'texts'
  /** `name=value`, once for each. */
  | 'map'
  | 'json';

/** A query parameter or a field of a body. */
export interface DescribedField {
  /** Its name in the API. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly description: string;
  readonly required?: true;
}

/** A call of the API. */
export interface DescribedCall {
  readonly summary: string;
  /** Names of the parameters in its path. */
  readonly path: readonly string[];
  readonly query: readonly DescribedField[];
  /** The fields of its body; undefined when it has none. */
  readonly body?: readonly DescribedField[];
  /** True when it takes an Idempotency-Key. */
  readonly keyed?: true;
  /** True when it takes `Prefer: wait=N`. */
  readonly prefers?: true;
}
