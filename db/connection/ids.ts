import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';

/** Bytes for some sixty ids: a call for each letter would cost more than the rest. */
const bytes = Buffer.alloc(1_024);
let used = bytes.length;

function random(): number {
  if (used === bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  return (bytes[used++] ?? 0) / 256;
}

const nextUlid = monotonicFactory(random);

/** Sortable by creation time; ids of work may derive from a reference instead (`platform/crypto/derived-ids.ts`). */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${nextUlid()}`;
}
