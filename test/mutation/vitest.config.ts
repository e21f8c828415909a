import { defineConfig } from 'vitest/config';

const { tests } = JSON.parse(process.env['MUTATION_RULE'] ?? '{}') as { tests: string[] };

export default defineConfig({
  test: {
    include: tests,
    // The same examples for every mutant: a score that changes by luck says nothing.
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 20_000,
  },
});
