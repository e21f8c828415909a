import fc from 'fast-check';

type Property<Values extends [unknown, ...unknown[]]> = [
  ...arbitraries: { [Key in keyof Values]: fc.Arbitrary<Values[Key]> },
  check: (...values: Values) => boolean | void,
];

/** Checks for many values that `check` does not throw, and does not return false. */
export function assertForAll<Values extends [unknown, ...unknown[]]>(...property: Property<Values>): void {
  fc.assert(fc.property<Values>(...property));
}

/** The same, for this number of values. */
export function assertForMany<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  ...property: Property<Values>
): void {
  fc.assert(fc.property<Values>(...property), { numRuns });
}
