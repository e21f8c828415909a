import type { Database } from '#db/connection/database.ts';
import { addRefusedDeliveries } from '#db/service/webhook-secrets.ts';
import { HEADER_PREFIX } from '#domain/service/service-address.ts';
import type { Logger } from '#telemetry/logger.ts';
import { serviceHeaders } from '#upstream/contract.ts';

/** Limits how often forged deliveries can cause a write to the database. */
const WRITE_EVERY_MS = 60_000;
/** Limits the prefixes in log and memory: forged deliveries may have any number of them. */
const MOST_LOGGED = 20;

const SIGNATURE_SUFFIX = serviceHeaders('').signature.toLowerCase();

/**
 * The prefix under which a request carries all four headers of a delivery, such as `X-Acme`; undefined if one of them
 * has our own prefix.
 */
export function otherHeaderPrefix(names: readonly string[], own: string): string | undefined {
  const present = new Set(names);
  const under = (prefix: string): string[] => {
    const { event, delivery, timestamp, signature } = serviceHeaders(prefix);
    return [event, delivery, timestamp, signature].map((name) => name.toLowerCase());
  };
  if (under(own).some((name) => present.has(name))) return undefined;
  const found = names
    .filter((name) => name.endsWith(SIGNATURE_SUFFIX))
    .map((name) => name.slice(0, -SIGNATURE_SUFFIX.length))
    .find((prefix) => HEADER_PREFIX.test(prefix) && under(prefix).every((name) => present.has(name)));
  return found?.replaceAll(/(^|-)[a-z]/g, (first) => first.toUpperCase());
}

export interface RefusedPrefixesOptions {
  readonly database: Pick<Database, 'run'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

interface Unwritten {
  prefix: string;
  deliveries: number;
  /** Epoch milliseconds of the last write. */
  writtenAt: number | undefined;
  readonly logged: Set<string>;
}

/** Stores the last prefix for other processes. Verified deliveries have limits of their own. */
export class RefusedPrefixes {
  readonly #options: RefusedPrefixesOptions;
  readonly #verified: Unwritten = { prefix: '', deliveries: 0, writtenAt: undefined, logged: new Set() };
  readonly #unverified: Unwritten = { prefix: '', deliveries: 0, writtenAt: undefined, logged: new Set() };

  constructor(options: RefusedPrefixesOptions) {
    this.#options = options;
  }

  /** Never throws. */
  async add(prefix: string, verified: boolean): Promise<void> {
    const { logger, now } = this.#options;
    const kind = verified ? this.#verified : this.#unverified;
    if (!kind.logged.has(prefix) && kind.logged.size < MOST_LOGGED) {
      kind.logged.add(prefix);
      logger.warn(
        { prefix, verified },
        'webhook deliveries are refused: their headers have another prefix than SERVICE_HEADER_PREFIX; ' +
          (verified ? 'they are signed with our webhook secret' : 'whether the service sent them is not verified'),
      );
    }
    kind.deliveries = kind.prefix === prefix ? kind.deliveries + 1 : 1;
    kind.prefix = prefix;
    if (kind.writtenAt !== undefined && Math.abs(now() - kind.writtenAt) < WRITE_EVERY_MS) return;
    kind.writtenAt = now();
    const { deliveries } = kind;
    kind.deliveries = 0;
    try {
      await this.#options.database.run((db) => addRefusedDeliveries(db, { prefix, verified, deliveries }));
    } catch (error) {
      logger.warn({ err: error }, 'the header prefix of refused webhook deliveries could not be stored');
    }
  }
}
