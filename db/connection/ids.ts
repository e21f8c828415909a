import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';

const nextUlid = monotonicFactory();

/** Sortable by creation time; ids of work may derive from a reference instead (`platform/crypto/derived-ids.ts`). */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
