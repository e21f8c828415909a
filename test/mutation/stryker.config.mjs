// One rule at a time, as main.ts says: CONTRIBUTING.md.
const { file, report, page } = JSON.parse(process.env.MUTATION_RULE ?? '{}');

/** @type {import('@stryker-mutator/core').PartialStrykerOptions} */
export default {
  mutate: [file],
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // Which tests, that file says: asking which are related costs more than it saves.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  tempDirName: '.stryker',
  // Stryker would rewrite it with an API that this TypeScript has no more; nothing here is compiled with it.
  tsconfigFile: 'none.json',
  reporters: ['clear-text', 'json', 'html'],
  clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: false, allowColor: false },
  jsonReporter: { fileName: report },
  htmlReporter: { fileName: page },
  concurrency: 2,
};
