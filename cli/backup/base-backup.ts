/** A base backup over PostgreSQL's replication protocol, as pg_basebackup makes it. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type BackupDescription, MANIFEST } from '#cli/backup/contents.ts';
import { codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';

/** Contains the write-ahead log that makes the files consistent. */
export const BASE_ARCHIVE = 'base.tar';

type BaseBackup = Pick<BackupDescription, 'startLsn' | 'endLsn' | 'timeline' | 'bytes'>;

const COMMAND =
  "BASE_BACKUP (LABEL 'reseller backup', CHECKPOINT 'fast', WAL true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

/** The server continues to work. @param url its role must be a superuser or have REPLICATION. */
export async function writeBaseBackup(url: string, folder: string): Promise<BaseBackup> {
  const replicationUrl = new URL(url);
  replicationUrl.searchParams.set('replication', 'true');
  const client = new pg.Client({ connectionString: replicationUrl.href, connectionTimeoutMillis: 10_000 });
  // A connection that breaks also rejects the command in progress.
  client.on('error', () => undefined);
  const receiver = new Receiver(folder);
  try {
    await client.connect();
    return await new Promise<BaseBackup>((resolve, reject) => {
      receiver.onEnd = (error) => (error === undefined ? resolve(receiver.result()) : reject(error));
      client.query(receiver);
    });
  } catch (error) {
    throw error === receiver.writeError ? error : refusal(error);
  } finally {
    await client.end().catch(() => undefined);
    receiver.close();
  }
}

interface Connection {
  query(text: string): void;
  readonly stream: { destroy(): void };
}

/**
 * The answer has rows, a copy stream and a row. Messages of the stream begin with a letter: `n` a new archive, `m` the
 * manifest, `d` bytes, `p` progress.
 */
class Receiver {
  readonly #archive: number;
  readonly #manifest: number;
  #current: number;
  #connection: Connection | undefined;
  #archives = 0;
  #bytes = 0;
  writeError: Error | undefined;
  readonly #rows: (readonly [string, string])[] = [];
  onEnd: (error?: Error) => void = () => undefined;

  constructor(folder: string) {
    this.#archive = openSync(join(folder, BASE_ARCHIVE), 'wx', 0o600);
    this.#manifest = openSync(join(folder, MANIFEST), 'wx', 0o600);
    this.#current = this.#archive;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(COMMAND);
  }

  handleRowDescription(): void {
    // The columns are known.
  }

  handleDataRow({ fields }: { readonly fields: readonly unknown[] }): void {
    this.#rows.push([String(fields[0]), String(fields[1])]);
  }

  /** Synchronous: the next message is read after it, so a slow disk slows the server's sending. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.writeError !== undefined) return;
    try {
      this.#take(String.fromCharCode(chunk[0] ?? 0), chunk.subarray(1));
    } catch (error) {
      // Thrown from here, it would end the process without a message.
      this.writeError = error instanceof Error ? error : new Error(messageOf(error));
      // Otherwise the server would send the rest of the backup for nothing.
      this.#connection?.stream.destroy();
      this.onEnd(this.writeError);
    }
  }

  #take(kind: string, content: Buffer): void {
    if (kind === 'n') {
      this.#archives += 1;
      if (this.#archives === 1) return;
      throw new UserError(
        'The server has tablespaces outside its data folder, and `reseller backup` cannot restore those.',
        'Use pg_basebackup, as docs/how-to/backup-and-restore.md describes.',
      );
    }
    if (kind === 'm') this.#current = this.#manifest;
    if (kind !== 'd') return;
    for (let written = 0; written < content.length;) written += writeSync(this.#current, content, written);
    if (this.#current === this.#archive) this.#bytes += content.length;
  }

  handleCommandComplete(): void {
    // Several commands complete before the server is ready again.
  }

  handleError(error: Error): void {
    this.onEnd(this.writeError ?? error);
  }

  handleReadyForQuery(): void {
    this.onEnd(this.writeError);
  }

  result(): BaseBackup {
    const [start, end] = [this.#rows[0], this.#rows.at(-1)];
    if (start === undefined || end === undefined || this.#archives !== 1 || this.#rows.length < 3) {
      throw new Error('the server ended the base backup without its positions');
    }
    return { startLsn: start[0], endLsn: end[0], timeline: Number(end[1]), bytes: this.#bytes };
  }

  /** Makes the files durable. */
  close(): void {
    try {
      for (const file of [this.#archive, this.#manifest]) fsyncSync(file);
    } finally {
      for (const file of [this.#archive, this.#manifest]) closeSync(file);
    }
  }
}

function refusal(error: unknown): Error {
  if (error instanceof UserError) return error;
  const text = messageOf(error) || (codeOf(error) ?? 'no reason given');
  return new UserError(
    `The server gave no base backup: ${text}.`,
    'The role of the address needs REPLICATION (`ALTER ROLE … REPLICATION`), pg_hba.conf a line for `replication`, ' +
      'and the server version 15 or later. For a server of others, use its own backups: ' +
      'docs/how-to/backup-and-restore.md.',
    { cause: error },
  );
}
