/** A worker with a defect: it sends again after the end of the window. */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker({
  config: (config) => {
    const purchase = { ...config.policy.purchase, resendWindowMs: 24 * 3_600_000 };
    return { ...config, policy: { ...config.policy, purchase } };
  },
});
