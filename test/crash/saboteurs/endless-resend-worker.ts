/**
 * A worker with one thing wrong: it sends again for as long as it takes, past the window. The crash proof must notice.
 */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker({
  config: (config) => {
    const purchase = { ...config.policy.purchase, resendWindowMs: 24 * 3_600_000 };
    return { ...config, policy: { ...config.policy, purchase } };
  },
});
