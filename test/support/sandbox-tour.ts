import { runTour, type TourOptions } from '#cli/sandbox-tour/tour.ts';
import type { ServiceConfig } from '#config/config.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { EMAIL, PASSWORD, type SimulatorClient } from '#test/simulator/support.ts';
import { config } from '#test/support/doctor-service.ts';

export const KEY_AGE_MS = 10_000;

export const serviceConfig = (baseUrl: string, changes: Partial<ServiceConfig> = {}): ServiceConfig =>
  config({ baseUrl, email: EMAIL, password: PASSWORD, ...changes });

/** Runs a tour of a simulator. Waits move the simulator's clock and take no time. */
export async function tourOf(
  simulator: Pick<SimulatorClient, 'advance' | 'now'> & { readonly simulator: { readonly baseUrl: string } },
  options: Partial<TourOptions> & { readonly capabilities?: Partial<Capabilities> } = {},
) {
  const { capabilities, ...rest } = options;
  let now = await simulator.now();
  const service = serviceConfig(simulator.simulator.baseUrl, {
    capabilities: { ...ALL_CAPABILITIES, ...capabilities },
  });
  return await runTour(service, {
    keyAgeMs: KEY_AGE_MS,
    waitMs: 30_000,
    resendWindowMs: 600_000,
    furtherPackageIds: [],
    now: () => now,
    delay: async (ms) => {
      now += ms;
      await simulator.advance(ms);
    },
    ...rest,
  });
}
