import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FAULT_PROFILES, faultProfileNames, type FaultProfileName } from '#simulator/behaviour/faults.ts';
import type { SimulatorOptions } from '#simulator/options.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { HttpClient } from '#test/support/network/http.ts';

const rule = z.object({
  id: z.string(),
  target: z.enum(['request', 'webhook']),
  fault: z.object({ kind: z.string() }),
  probability: z.number(),
  count: z.number().nullable(),
  profile: z.boolean(),
  hits: z.number(),
  fired: z.number(),
});
const rulesOf = async (simulator: { readonly admin: HttpClient }) =>
  (await simulator.admin.get('/faults')).read(z.object({ data: z.array(rule) })).data;

async function expectProfile(admin: HttpClient, name: FaultProfileName): Promise<void> {
  const expected = Object.entries(FAULT_PROFILES[name]).flatMap(([target, chances]) =>
    Object.entries(chances).map(([kind, probability]) => `${target} ${kind} ${String(probability)}`),
  );
  const rules = await rulesOf({ admin });
  const shown = rules.map(({ target, fault, probability }) => `${target} ${fault.kind} ${probability}`);
  expect(shown.toSorted()).toEqual(expected.toSorted());
  expect(rules.every(({ profile, count }) => profile && count === null)).toBe(true);
  expect((await admin.get('/state')).at('fault_profile', 'name')).toBe(name);
}

/** The statuses of sixty calls with possible faults that answer. */
async function weather(options: SimulatorOptions): Promise<readonly number[]> {
  await using simulator = await startTestSimulator(options, false);
  const chances = { request: { server_error: 0.3, rate_limited: 0.2 } };
  expect((await simulator.admin.post('/fault-profile', chances)).status).toBe(200);
  const statuses: number[] = [];
  for (let call = 0; call < 60; call += 1) statuses.push((await simulator.sandbox.get('/wallet')).status);
  return statuses;
}

describe('random faults', () => {
  it('are the same for the same seed and calls, and differ for another seed', async () => {
    const first = await weather({ seed: 'one' });
    expect(new Set(first)).toEqual(new Set([200, 429, 503]));
    expect(await weather({ seed: 'one' })).toEqual(first);
    expect(await weather({ seed: 'two' })).not.toEqual(first);
  });

  it.each(faultProfileNames)(
    '%s has a rule for each of its chances, at the start and by the admin API',
    async (name) => {
      // Not the usual client of the tests: its logins would meet the faults.
      const started = await startSimulator({ seed: 'test', faultProfile: name });
      const plain = await startSimulator({ seed: 'test' });
      await new HttpClient(`${plain.url}/simulator`).post('/fault-profile', { name });
      for (const { url } of [started, plain]) await expectProfile(new HttpClient(`${url}/simulator`), name);
      await Promise.all([started.close(), plain.close()]);
    },
  );
});
