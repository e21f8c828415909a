/**
 * Properties draw the same examples in each run, so that no run fails by chance and each failure can be repeated.
 * `TEST_SEED=7 npm run test:fast` draws others.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 20_261_121) });
