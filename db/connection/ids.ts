import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';

const nextUlid = monotonicFactory();

/**
 * A new id of ours, such as `att_01J…`: unique, and sortable by the time it was made. Ids of work are not made here
 * where something names the work for good (`crypto/derived-ids.ts`), so nothing sorts work by its id alone.
 */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
