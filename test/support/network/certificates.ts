/** Certificates for tests, made by OpenSSL. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority with its files in one folder. */
export class CertificateAuthority {
  readonly ca: string;
  readonly #folder: string;
  readonly #name: string;

  private constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.ca = this.#path('pem');
  }

  /** @param name of its files; several may share a folder. */
  static async create(folder: string, name = 'authority'): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(folder, name);
    const target = ['-keyout', authority.#path('key'), '-out', authority.ca];
    await run('openssl', ['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${name}`, ...target]);
    return authority;
  }

  /** Issues a certificate. @param names DNS names and IP addresses that it is valid for. */
  async issue(name: string, names: readonly string[] = []): Promise<CertificateFiles> {
    const alternatives = names.map((each) => (/^[\d.]+$/.test(each) ? `IP:${each}` : `DNS:${each}`)).join(',');
    return this.#issue(
      name,
      `basicConstraints=CA:FALSE\n${names.length > 0 ? `subjectAltName=${alternatives}\n` : ''}`,
    );
  }

  /** Issues a certificate in version 1 of X.509, which has no extensions. */
  async issueVersion1(name: string): Promise<CertificateFiles> {
    return this.#issue(name, '');
  }

  async #issue(name: string, extensions: string): Promise<CertificateFiles> {
    const file = (suffix: string) => join(this.#folder, `${this.#name}-${name}.${suffix}`);
    const files = { cert: file('pem'), key: file('key') };
    await run('openssl', ['req', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', files.key, '-out', file('csr')]);
    writeFileSync(file('ext'), extensions);
    const signer = ['-CA', this.ca, '-CAkey', this.#path('key'), '-CAcreateserial', '-days', '2'];
    await run('openssl', ['x509', '-req', '-in', file('csr'), ...signer, '-extfile', file('ext'), '-out', files.cert]);
    return files;
  }

  #path(suffix: string): string {
    return join(this.#folder, `${this.#name}.${suffix}`);
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function contentsOf({ cert, key }: CertificateFiles): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

/** Copies a private key and encrypts it with a passphrase. @returns the path of the copy. */
export async function encryptKey(key: string): Promise<string> {
  const copy = `${key}.encrypted`;
  await run('openssl', ['pkcs8', '-topk8', '-in', key, '-passout', 'pass:secret', '-out', copy]);
  return copy;
}
