import type { Children } from '#bench/support/children.ts';
import type { EmbeddedPostgres } from '#cli/embedded/postgres.ts';

/** What all contestants share. */
export interface BenchServers {
  readonly mode: 'full' | 'quick';
  /** One PostgreSQL with its default durability for all contestants; each has a database of its own in it. */
  readonly postgres: EmbeddedPostgres;
  readonly temporalAddress: string;
  /** Prometheus metrics of the development server; undefined on a cluster. */
  readonly temporalMetricsUrl: string | undefined;
  /** The servers' own processes. */
  readonly sharedProcesses: Readonly<Record<'postgres' | 'temporal', number>>;
  readonly children: Children;
  /** Databases of the Temporal server in that PostgreSQL; none with the development server. */
  readonly temporalDatabases: readonly string[];
  /** Removed at the end. */
  readonly folder: string;
  say(text: string): void;
}
