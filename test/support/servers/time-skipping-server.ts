import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { downloadBySdk, type ObtainOptions } from '#cli/embedded/temporal-cli.ts';
import { cacheDirectory, runTool, toolAnswers, ToolError } from '#cli/embedded/tool.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** Must equal `ops/temporal-test-server/pom.xml`. */
const TEST_SERVER_VERSION = '1.38.0';

function findTestServer(environment: Environment): string | undefined {
  const named = environment['TEMPORAL_TEST_SERVER_PATH'];
  if (named) return named;
  const cached = cachedServer(environment);
  return existsSync(cached) ? cached : undefined;
}

/** Maven takes seconds, so the SDK comes last. The program takes a port as its argument. */
export async function obtainTestServer(options: ObtainOptions): Promise<string> {
  const { environment } = options;
  const found = findTestServer(environment);
  if (found !== undefined) return found;
  const target = cachedServer(environment);
  const common = { target, environment, progress: options.progress, ...(options.signal && { signal: options.signal }) };
  const problem = await javaProblem(environment);
  if (problem === undefined) {
    await fetchWithMaven(common);
    return target;
  }
  options.progress('starting a download');
  if (await downloadBySdk({ ...common, kind: 'test-server', version: 'default' })) return target;
  throw new UserError(
    `Temporal's time-skipping test server is not on this machine, could not be downloaded, and ${problem}.`,
    'Install a Java runtime (17 or later) and Maven, or set TEMPORAL_TEST_SERVER_PATH to the server.',
  );
}

function cachedServer(environment: Environment): string {
  return join(cacheDirectory(environment), `temporal-test-server-${TEST_SERVER_VERSION}`, 'temporal-test-server');
}

async function javaProblem(environment: Environment): Promise<string | undefined> {
  const java = await toolAnswers('java', ['-version'], environment);
  if (java === undefined) return 'there is no Java to run it';
  const maven = await toolAnswers('mvn', ['--version'], environment);
  return maven === undefined ? 'there is no Maven to fetch it' : undefined;
}

async function fetchWithMaven(options: ObtainOptions & { readonly target: string }): Promise<void> {
  const home = dirname(options.target);
  mkdirSync(dirname(home), { recursive: true });
  const partial = mkdtempSync(`${home}.partial-`);
  try {
    options.progress('fetching with Maven');
    await runTool(
      'mvn',
      [
        '--batch-mode',
        `--file=${join(import.meta.dirname, '../../../ops/temporal-test-server/pom.xml')}`,
        'dependency:copy-dependencies',
        '-DincludeScope=runtime',
        `-DoutputDirectory=${join(partial, 'lib')}`,
      ],
      {
        environment: options.environment,
        onLine: (line) => {
          const [, jar] = /Copying (\S+\.jar)/.exec(line) ?? [];
          if (jar !== undefined) options.progress(jar);
        },
        ...(options.signal && { signal: options.signal }),
      },
    );
    const program = join(partial, 'temporal-test-server');
    // SerialGC and C1: a short-lived server starts faster and takes less memory.
    writeFileSync(
      program,
      [
        '#!/bin/sh',
        'lib="$(dirname "$0")/lib"',
        'exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$lib/*" io.temporal.testserver.TestServer "$@"',
        '',
      ].join('\n'),
    );
    chmodSync(program, 0o755);
    rmSync(home, { recursive: true, force: true });
    renameSync(partial, home);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new UserError(
      `Temporal's time-skipping test server could not be fetched: ${error.message}.\n${error.output}`,
      'Check that Maven can reach its repository, or set TEMPORAL_TEST_SERVER_PATH to the server.',
    );
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
