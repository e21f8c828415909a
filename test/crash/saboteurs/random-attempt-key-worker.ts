/**
 * A worker with one thing wrong: the key of an attempt is random and does not follow from its work, as if the row alone kept it. A proof in
 * which PostgreSQL loses its last commits must notice.
 */
import { randomUUID } from 'node:crypto';
import { KeyRing } from '#crypto/key-ring.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

const { hash } = Object.getOwnPropertyDescriptors(KeyRing.prototype);
KeyRing.prototype.hash = function random(content, purpose) {
  return hash.value?.call(this, purpose === 'attempt_idempotency_key' ? randomUUID() : content, purpose) ?? Buffer.alloc(0);
};
await startWatchedWorker();
