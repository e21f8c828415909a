/** The programs of a Temporal cluster: the server proper, its schema tool, and the UI. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '#cli/embedded/cache.ts';
import { BUILD_DISK_GB, buildWithGo, goProblem } from '#cli/embedded/go-build.ts';
import type { ObtainOptions } from '#cli/embedded/temporal-cli.ts';
import { SERVER_VERSIONS } from '#cli/embedded/versions.ts';
import { UserError } from '#cli/terminal/user-error.ts';

/** Paths of the programs. */
export interface TemporalPrograms {
  readonly server: string;
  /** Creates and upgrades the schema of the server's databases. */
  readonly sqlTool: string;
  readonly ui: string;
}

const MODULE = join(import.meta.dirname, '../../ops/temporal-server');
const IMPORT_PATHS: Readonly<Record<keyof TemporalPrograms, string>> = {
  server: 'go.temporal.io/server/cmd/server',
  sqlTool: 'go.temporal.io/server/cmd/tools/sql',
  ui: 'github.com/temporalio/ui-server/v2/cmd/server',
};

/** Finds the programs in the cache, else builds them from their pinned sources. @throws UserError */
export async function obtainTemporalPrograms(options: Omit<ObtainOptions, 'download'>): Promise<TemporalPrograms> {
  const { environment, progress, announce, signal } = options;
  const folder = join(
    cacheDirectory(environment),
    `temporal-server-${SERVER_VERSIONS.temporal_server}-ui-${SERVER_VERSIONS.temporal_ui}`,
  );
  const programs: TemporalPrograms = {
    server: join(folder, 'temporal-server'),
    sqlTool: join(folder, 'temporal-sql-tool'),
    ui: join(folder, 'temporal-ui-server'),
  };
  const missing = (['server', 'sqlTool', 'ui'] as const).filter((name) => !existsSync(programs[name]));
  if (missing.length === 0) return programs;
  const problem = await goProblem(environment);
  if (problem !== undefined) {
    throw new UserError(
      `The Temporal server ${SERVER_VERSIONS.temporal_server} is built from source, and cannot be built: ${problem}.`,
      'Install Go 1.25 or later and start again.',
    );
  }
  const { temporal_server: server, temporal_ui: ui } = SERVER_VERSIONS;
  announce?.(
    `Temporal ${server} and its UI ${ui} are built from source. This happens once. It takes 4 to 9 minutes\n` +
      `and needs about ${BUILD_DISK_GB} GB of disk below ${cacheDirectory(environment)} and in the folders of Go.`,
  );
  for (const name of missing) {
    await buildWithGo({
      module: MODULE,
      program: IMPORT_PATHS[name],
      target: programs[name],
      environment,
      progress,
      ...(signal !== undefined && { signal }),
    });
  }
  return programs;
}
