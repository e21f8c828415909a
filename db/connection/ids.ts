import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';

const nextUlid = monotonicFactory();

/**
 * A new id such as `att_01J…`: unique, and sortable by creation time. Ids of work derive from a reference where there
 * is one (`crypto/derived-ids.ts`), so no query sorts work by id alone.
 */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
