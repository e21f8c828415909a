/** A row that is lost gets the same id again. Keyed hashes: others cannot compute them, and the input stays secret. */
import { digitsOf } from '#crypto/generated-secrets.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { ID_PREFIXES } from '#domain/work/identifiers.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';

/** @param number from 1. */
export function attemptKey(keyRing: KeyRing, { kind, id }: WorkRef, number: number): string {
  return derivedUuid(keyRing, 'attempt_idempotency_key', [kind, id, String(number)]);
}

export function workId(keyRing: KeyRing, kind: WorkKind, naming: readonly string[]): string {
  return `${ID_PREFIXES[kind]}_${derivedUlid(keyRing, 'work_id', [kind, ...naming])}`;
}

/** If the row is lost and stored again, callers still have the right id. */
export function deliveredEsimId(keyRing: KeyRing, orderId: string): string {
  return `${ID_PREFIXES.esim}_${derivedUlid(keyRing, 'delivered_esim_id', [orderId])}`;
}

export function batchId(keyRing: KeyRing, reference: string): string {
  return `${ID_PREFIXES.orderBatch}_${derivedUlid(keyRing, 'batch_id', [reference])}`;
}

/** Identifies the request that created work, long after its answer was deleted. @param key its Idempotency-Key. */
export function requestKey(keyRing: KeyRing, lineageId: string, key: string): Buffer {
  return keyRing.hash(JSON.stringify([lineageId, key]), 'request_key');
}

/** Version 8 (RFC 9562, 5.8). @param purpose different purposes give different ids. @param parts in this order. */
export function derivedUuid(keyRing: KeyRing, purpose: string, parts: readonly string[]): string {
  const bytes = derivedBytes(keyRing, purpose, parts);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** 26 digits of Crockford's base 32, which do not sort by time. Parameters as in {@link derivedUuid}. */
export function derivedUlid(keyRing: KeyRing, purpose: string, parts: readonly string[]): string {
  return digitsOf(derivedBytes(keyRing, purpose, parts), '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26);
}

/** JSON, so that different lists never give the same input. */
function derivedBytes(keyRing: KeyRing, purpose: string, parts: readonly string[]): Buffer {
  return keyRing.hash(JSON.stringify(parts), purpose).subarray(0, 16);
}
