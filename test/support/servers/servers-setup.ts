import type { TestProject } from 'vitest/node';
import { type SharedServers, startSharedServers } from '#test/support/servers/shared-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    servers: SharedServers;
  }
}

interface Shared {
  users: number;
  running: ReturnType<typeof startSharedServers>;
}

// Each project loads this file again. The servers belong to the run, so they are stored on the process.
const shared = globalThis as typeof globalThis & { resellerTestServers?: Shared };

/** Starts the servers for the first project that needs them, and stops them after the last one. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const current = (shared.resellerTestServers ??= { users: 0, running: startSharedServers() });
  current.users += 1;
  project.provide('servers', (await current.running).servers);
  return async () => {
    current.users -= 1;
    if (current.users > 0) return;
    delete shared.resellerTestServers;
    await (await current.running).stop();
  };
}
