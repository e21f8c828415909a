/** The known values of a set that a later version of the API may extend. A plain `string` stays a `string`. */
export type KnownValue<Value extends string> = [Literal<Value>] extends [never] ? Value : Literal<Value>;

type Literal<Value extends string> = Value extends unknown ? (string extends Value ? never : Value) : never;
