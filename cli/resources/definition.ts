import type { Columns } from '#cli/terminal/columns.ts';
import type { ResellerClient } from '#clients/typescript/src/index.ts';

type ResultOf<Name extends keyof ResellerClient> = ResellerClient[Name] extends (...args: never[]) => infer Result
  ? Result
  : never;

type ItemOf<Name extends keyof ResellerClient> =
  ResultOf<Name> extends AsyncIterable<infer Item>
    ? Item
    : ResultOf<Name> extends Promise<{ readonly data: readonly (infer Item)[] }>
      ? Item
      : never;

type ObjectOf<Name extends keyof ResellerClient> = ResultOf<Name> extends Promise<infer Answer> ? Answer : never;

type ListCall = {
  [Name in keyof ResellerClient]: [ItemOf<Name>] extends [never] ? never : Name;
}[keyof ResellerClient];
type ObjectCall = {
  [Name in keyof ResellerClient]: [ObjectOf<Name>] extends [never] ? never : Name;
}[keyof ResellerClient];
export type FileCall = {
  [Name in keyof ResellerClient]: ResultOf<Name> extends Promise<Uint8Array | string> ? Name : never;
}[keyof ResellerClient];

interface Details {
  readonly about?: string;
  readonly examples?: readonly Example[];
}

/** What is typed after the name of the command. */
export type Example = readonly [typed: string, purpose: string];

interface ListDetails extends Details {
  readonly none?: string;
}

interface Definition<Prints, Call> extends Details {
  readonly prints: Prints;
  readonly call: Call;
}

export interface ListDefinition extends Definition<'list', ListCall>, ListDetails {
  readonly columns: Columns<unknown>;
}

export type CallDefinition = ListDefinition | Definition<'object', ObjectCall> | Definition<'file', FileCall>;

export interface ResourceDefinition {
  readonly command: string;
  readonly about: string;
  readonly commands: Readonly<Record<string, CallDefinition>>;
}

export function list<Name extends ListCall>(
  call: Name,
  columns: Columns<ItemOf<Name>>,
  details: ListDetails = {},
): ListDefinition {
  // The columns only get items of this call.
  return { prints: 'list', call, columns: columns as Columns<unknown>, ...details };
}

export function object(call: ObjectCall, details: Details = {}): Definition<'object', ObjectCall> {
  return { prints: 'object', call, ...details };
}

export function file(call: FileCall, details: Details = {}): Definition<'file', FileCall> {
  return { prints: 'file', call, ...details };
}
