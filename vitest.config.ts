import { defineConfig } from 'vitest/config';
import { QUICK_START } from './cli/start/supervisor.ts';
import { LongestFirst } from './test/support/longest-first.ts';

// A test that needs longer than this has lost what it waits for, also on a machine that is twenty times as slow as a
// quiet one.
const QUICK_TEST_MS = 240_000;
const SLOW_TEST_MS = 480_000;
const PATIENCE = { poll: { timeout: 120_000 } };

const SEED = 'test/support/property-seed.ts';
const USUAL_VARIANTS = 'test/support/usual-variants.ts';
const OWN_PORTS = 'test/support/servers/own-ports.ts';

// Halves the start of the processes that run the files.
const execArgv = [QUICK_START];

// Files of the other kinds start several processes each: three at a time keep two cores busy. With five, ten to thirty
// processes waited for a core at any time, and limits of a minute in the product were reached.
const OTHERS = { maxWorkers: 3, sequence: { groupOrder: 1 } };

/** The cheapest kind runs first (`groupOrder`), then all others together. */
export default defineConfig({
  test: {
    // A test that fails once has failed.
    retry: 0,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'fast',
          execArgv,
          // Everything that is none of the other kinds, so that no test file can be forgotten.
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/{workflow,integration,fault,foreign}/**'],
          setupFiles: [SEED, USUAL_VARIANTS],
          testTimeout: QUICK_TEST_MS,
          hookTimeout: QUICK_TEST_MS,
          expect: PATIENCE,
          // Loading the same modules for each file takes as long as the tests. A test that changes a module restores
          // it.
          isolate: false,
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
          globalSetup: ['test/support/servers/workflow-setup.ts'],
          testTimeout: QUICK_TEST_MS,
          hookTimeout: QUICK_TEST_MS,
          expect: PATIENCE,
          isolate: false,
          ...OTHERS,
        },
      },
      {
        test: {
          name: 'integration',
          execArgv,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/servers/servers-setup.ts'],
          setupFiles: [SEED, OWN_PORTS],
          testTimeout: SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          expect: PATIENCE,
          isolate: false,
          ...OTHERS,
        },
      },
      {
        test: {
          name: 'fault',
          execArgv,
          include: ['test/fault/**/*.test.ts'],
          globalSetup: ['test/support/servers/servers-setup.ts'],
          setupFiles: [SEED, OWN_PORTS],
          testTimeout: 2 * SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          expect: PATIENCE,
          // Concurrent tests of a file, each of which has servers and processes of its own.
          maxConcurrency: 2,
          ...OTHERS,
        },
      },
      {
        test: {
          name: 'foreign',
          execArgv,
          include: ['test/foreign/**/*.test.ts'],
          globalSetup: ['test/support/servers/servers-setup.ts'],
          setupFiles: [SEED, OWN_PORTS],
          testTimeout: 2 * SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          expect: PATIENCE,
          ...OTHERS,
        },
      },
    ],
  },
});
