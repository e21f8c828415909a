import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { downloadBySdk } from '#cli/embedded/temporal-cli.ts';
import { cacheDirectory, runTool, toolAnswers, ToolError } from '#cli/embedded/tool.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of Temporal's time-skipping server. */
    testServer: string;
    /** File with the workflows as production bundles them. */
    bundledWorkflows: string;
  }
}

/**
 * Workflow tests need the time-skipping server. Without it the run fails with the reason. All files share one bundle,
 * because its build takes two seconds.
 */
export default async function setUp(project: TestProject): Promise<() => void> {
  const folder = temporaryFolder('workflow');
  const bundle = join(folder, 'workflows.js');
  const [path] = await Promise.all([obtainTestServer(), bundleWorkflows(bundle)]);
  project.provide('testServer', path);
  project.provide('bundledWorkflows', bundle);
  return () => removeFolder(folder);
}

/** Must equal `ops/temporal-test-server/pom.xml`. */
const TEST_SERVER_VERSION = '1.38.0';
const environment = process.env;
const progress = (text: string) => void process.stdout.write(`time-skipping test server: ${text}\n`);

/** Maven takes seconds, so the SDK comes last. The program takes a port as its argument. */
async function obtainTestServer(): Promise<string> {
  const named = environment['TEMPORAL_TEST_SERVER_PATH'];
  if (named) return named;
  const home = join(cacheDirectory(environment), `temporal-test-server-${TEST_SERVER_VERSION}`);
  const target = join(home, 'temporal-test-server');
  if (existsSync(target)) return target;
  const problem = await javaProblem();
  if (problem === undefined) {
    await fetchWithMaven(home);
    return target;
  }
  progress('starting a download');
  if (await downloadBySdk({ target, environment, progress, kind: 'test-server', version: 'default' })) return target;
  throw new UserError(
    `Temporal's time-skipping test server is not on this machine, could not be downloaded, and ${problem}.`,
    'Install a Java runtime (17 or later) and Maven, or set TEMPORAL_TEST_SERVER_PATH to the server.',
  );
}

async function javaProblem(): Promise<string | undefined> {
  const java = await toolAnswers('java', ['-version'], environment);
  if (java === undefined) return 'there is no Java to run it';
  const maven = await toolAnswers('mvn', ['--version'], environment);
  return maven === undefined ? 'there is no Maven to fetch it' : undefined;
}

async function fetchWithMaven(home: string): Promise<void> {
  mkdirSync(dirname(home), { recursive: true });
  const partial = mkdtempSync(`${home}.partial-`);
  try {
    progress('fetching with Maven');
    const pom = join(PROJECT, 'ops/temporal-test-server/pom.xml');
    const output = `-DoutputDirectory=${join(partial, 'lib')}`;
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', output];
    const onLine = (line: string) => {
      const [, jar] = /Copying (\S+\.jar)/.exec(line) ?? [];
      if (jar !== undefined) progress(jar);
    };
    await runTool('mvn', ['--batch-mode', `--file=${pom}`, ...copy], { environment, onLine });
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
