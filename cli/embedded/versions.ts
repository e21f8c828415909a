import { readFileSync } from 'node:fs';
import * as z from 'zod';

const FILE = new URL('../../ops/versions.json', import.meta.url);
const version = z.string().regex(/^\d+\.\d+(\.\d+)?$/);

/** The versions of the servers that we run and build, from `ops/versions.json`. Compose names the same. */
export const SERVER_VERSIONS = z
  .strictObject({ temporal_server: version, temporal_ui: version, temporal_cli: version, postgres: version })
  .parse(JSON.parse(readFileSync(FILE, 'utf8')));
