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

type NamesOfLists = { [Name in keyof ResellerClient]: [ItemOf<Name>] extends [never] ? never : Name };
type NamesOfObjects = { [Name in keyof ResellerClient]: [ObjectOf<Name>] extends [never] ? never : Name };

export type ListCall = NamesOfLists[keyof ResellerClient];
export type ObjectCall = NamesOfObjects[keyof ResellerClient];
export type FileCall = {
  [Name in keyof ResellerClient]: ResultOf<Name> extends Promise<Uint8Array | string> ? Name : never;
}[keyof ResellerClient];

interface Details {
  readonly about?: string;
  readonly examples?: readonly Example[];
}

/** What is typed after the name of the command. */
export type Example = readonly [typed: string, purpose: string];

export interface ListDefinition extends ListDetails {
  readonly prints: 'list';
  readonly call: ListCall;
  readonly columns: Columns<unknown>;
}

interface ListDetails extends Details {
  readonly none?: string;
}

export interface ObjectDefinition extends Details {
  readonly prints: 'object';
  readonly call: ObjectCall;
}

export interface FileDefinition extends Details {
  readonly prints: 'file';
  readonly call: FileCall;
}

export type CallDefinition = ListDefinition | ObjectDefinition | FileDefinition;

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

export function object(call: ObjectCall, details: Details = {}): ObjectDefinition {
  return { prints: 'object', call, ...details };
}

export function file(call: FileCall, details: Details = {}): FileDefinition {
  return { prints: 'file', call, ...details };
}
