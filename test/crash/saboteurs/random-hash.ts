import { randomUUID } from 'node:crypto';
import { KeyRing } from '#crypto/key-ring.ts';

/** Makes the keyed hashes for one purpose random in this process, so nothing is derived from its content. */
export function randomiseHash(purpose: string): void {
  const { hash } = Object.getOwnPropertyDescriptors(KeyRing.prototype);
  KeyRing.prototype.hash = function careless(content, of) {
    return hash.value?.call(this, of === purpose ? randomUUID() : content, of) ?? Buffer.alloc(0);
  };
}
