import type { TestProject } from 'vitest/node';
import { obtainTestServer } from '#cli/embedded/temporal-test-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of Temporal's time-skipping server. */
    testServer: string;
  }
}

/** Workflow tests cannot run without the time-skipping server: where it cannot be had, the run fails and says why. */
export default async function setUp(project: TestProject): Promise<void> {
  const environment = process.env;
  const path = await obtainTestServer({
    environment,
    progress: (text) => process.stdout.write(`time-skipping test server: ${text}\n`),
  });
  project.provide('testServer', path);
}
