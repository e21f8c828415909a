import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

export interface NamedKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** Wrong key, other additional authenticated data, or altered bytes. */
export class DecryptionError extends Error {
  constructor(reason: string) {
    super(`cannot decrypt: ${reason}`);
    this.name = 'DecryptionError';
  }
}

/** A process with the key can decrypt it. */
export class MissingKeyError extends DecryptionError {
  constructor(id: string) {
    super(`key ${JSON.stringify(id)} is not in ENCRYPTION_KEYS`);
    this.name = 'MissingKeyError';
  }
}

const FORMAT = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/**
 * AES-256-GCM. The first key encrypts and all keys decrypt: to rotate, put a new key in front. A value is bound to its
 * additional authenticated data (AAD): moved to another row or column it cannot be decrypted. Layout: format (1 byte),
 * length of the key id (1), key id, IV (12), ciphertext, tag (16). IVs are random, so one key should encrypt at most
 * 2^32 values (NIST SP 800-38D, 8.3). Rotate long before that.
 */
export class KeyRing {
  readonly primaryKeyId: string;
  readonly #encryptionKeys: ReadonlyMap<string, KeyObject>;
  readonly #hashKey: KeyObject;
  readonly #checkValues: ReadonlyMap<string, Buffer>;

  /** @param keys the **last** also derives the key of {@link hash}: keep it when rotating. @throws RangeError */
  constructor(keys: readonly NamedKey[]) {
    const primary = keys[0];
    const oldest = keys.at(-1);
    if (primary === undefined || oldest === undefined) throw new RangeError('a key ring needs at least one key');
    const encryptionKeys = new Map<string, KeyObject>();
    for (const { id, key } of keys) {
      const idBytes = Buffer.byteLength(id, 'utf8');
      if (idBytes < 1 || idBytes > 255) throw new RangeError('a key id must have 1 to 255 bytes');
      if (key.length !== 32) throw new RangeError(`key ${id} must have 32 bytes`);
      if (encryptionKeys.has(id)) throw new RangeError(`key id ${id} is used twice`);
      encryptionKeys.set(id, derive(key, 'encrypt'));
    }
    this.primaryKeyId = primary.id;
    this.#encryptionKeys = encryptionKeys;
    this.#hashKey = derive(oldest.key, 'hash');
    this.#checkValues = new Map(keys.map(({ id, key }) => [id, derive(key, 'check').export()]));
  }

  get keyIds(): readonly string[] {
    return [...this.#encryptionKeys.keys()];
  }

  /** One-way (HKDF-SHA-256), equal for equal bytes of a key. Undefined when the ring has no key of this id. */
  checkValueOf(id: string): Buffer | undefined {
    return this.#checkValues.get(id);
  }

  /** @param plaintext text is encrypted as UTF-8. @param aad row and column; {@link decrypt} needs the same text. */
  encrypt(plaintext: Uint8Array | string, aad: string): Buffer {
    const id = Buffer.from(this.primaryKeyId, 'utf8');
    const header = Buffer.concat([Buffer.from([FORMAT, id.length]), id]);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#keyOf(this.primaryKeyId), iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.concat([header, Buffer.from(aad, 'utf8')]));
    const body = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
    return Buffer.concat([header, iv, cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws DecryptionError when the AAD differs or the bytes were altered; {@link MissingKeyError}. */
  decrypt(encrypted: Uint8Array, aad: string): Buffer {
    const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength);
    const idLength = bytes[1] ?? 0;
    const headerLength = 2 + idLength;
    if (bytes[0] !== FORMAT || bytes.length < headerLength + IV_BYTES + TAG_BYTES) {
      throw new DecryptionError('not in a known format');
    }
    const header = bytes.subarray(0, headerLength);
    const iv = bytes.subarray(headerLength, headerLength + IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#keyOf(header.toString('utf8', 2)), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.concat([header, Buffer.from(aad, 'utf8')]));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(headerLength + IV_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw new DecryptionError('altered bytes, or other additional authenticated data');
    }
  }

  decryptText(encrypted: Uint8Array, aad: string): string {
    return this.decrypt(encrypted, aad).toString('utf8');
  }

  /**
   * HMAC-SHA-256, to find values that must not be readable. @param purpose different purposes give different hashes.
   */
  hash(content: Uint8Array | string, purpose: string): Buffer {
    return createHmac('sha256', this.#hashKey).update(purpose).update('\0').update(content).digest();
  }

  #keyOf(id: string): KeyObject {
    const key = this.#encryptionKeys.get(id);
    if (key === undefined) throw new MissingKeyError(id);
    return key;
  }
}

/** Node copies plain bytes into a key object at every use, which costs more than the encryption. */
function derive(key: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `reseller-fulfilment/${purpose}`, 32)));
}
