import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';

/** Random bytes for some sixty ids: one call for each of their letters costs more than all else of an id. */
const bytes = Buffer.alloc(1_024);
let used = bytes.length;

/** @returns a random number from 0 to below 1, of eight bits; a letter of an id takes five of them. */
function random(): number {
  if (used === bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  return (bytes[used++] ?? 0) / 256;
}

const nextUlid = monotonicFactory(random);

/**
 * A new id such as `att_01J…`: unique, and sortable by creation time. Ids of work derive from a reference where there
 * is one (`platform/crypto/derived-ids.ts`), so no query sorts work by id alone.
 */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
