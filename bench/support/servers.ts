import type { Children } from '#bench/support/children.ts';
import type { EmbeddedPostgres } from '#cli/embedded/postgres.ts';

/** What all contestants share. */
export interface BenchServers {
  readonly mode: 'full' | 'quick';
  /** One PostgreSQL with its default durability for all contestants; each has a database of its own in it. */
  readonly postgres: EmbeddedPostgres;
  readonly temporalAddress: string;
  readonly children: Children;
  /** Removed at the end. */
  readonly folder: string;
  say(text: string): void;
}
