import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/identifiers.ts';

const nextUlid = monotonicFactory();

/** A new id of ours, such as `ord_01J…`: unique, and sortable by the time it was made. */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
