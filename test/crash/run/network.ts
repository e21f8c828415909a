import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { TransactionCutter } from '#test/crash/run/cuts.ts';
import { NetworkProxy } from '#test/crash/run/proxy.ts';
import type { Stack } from '#test/support/servers/stack.ts';

export async function networkOf(stack: Stack, { cuts }: CrashPlan) {
  const cutter = new TransactionCutter(cuts);
  const serviceUrl = stack.environments.worker['SERVICE_BASE_URL'] ?? '';
  const targetOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const [postgres, temporal, service] = await Promise.all([
    NetworkProxy.before(targetOf(stack.databaseUrl), () => cutter.inspector()),
    NetworkProxy.before(targetOf(`tcp://${stack.temporal.address}`)),
    NetworkProxy.before(targetOf(serviceUrl)),
  ]);
  return {
    cutter,
    proxies: { postgres, temporal, service },
    environment: {
      DATABASE_URL: postgres.through(stack.databaseUrl),
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      SERVICE_BASE_URL: service.through(serviceUrl),
    },
    [Symbol.asyncDispose]: async () => {
      for (const proxy of [postgres, temporal, service]) await proxy[Symbol.asyncDispose]();
    },
  };
}
