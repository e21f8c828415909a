import { defineConfig } from 'vitest/config';
import { QUICK_START } from './cli/start/part.ts';

// A test that needs longer than this has lost what it waits for.
const SLOW_TEST_MS = 120_000;

// Each file runs in a process of its own, most of whose time goes into starting.
const execArgv = [QUICK_START];

/** Kinds run one after the other (`groupOrder`), cheapest first, so that two cores are not shared by everything. */
export default defineConfig({
  test: {
    // A test that fails once has failed.
    retry: 0,
    projects: [
      {
        test: {
          name: 'fast',
          execArgv,
          // Everything that is none of the other kinds, so that no test file can be forgotten.
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/{workflow,integration,fault}/**'],
          testTimeout: 20_000,
          // By default one core of two would stand idle.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'workflow',
          execArgv,
          include: ['test/workflow/**/*.test.ts'],
          globalSetup: ['test/support/workflow-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'integration',
          execArgv,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/servers-setup.ts'],
          testTimeout: SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'fault',
          execArgv,
          include: ['test/fault/**/*.test.ts'],
          globalSetup: ['test/support/servers-setup.ts'],
          testTimeout: 2 * SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          // Each file has servers of its own and mostly waits.
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
