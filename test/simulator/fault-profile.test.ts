import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FAULT_PROFILES, faultProfileNames } from '#simulator/behaviour/faults.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { HttpClient } from '#test/support/network/http.ts';

const rule = z.object({
  target: z.string(),
  fault: z.object({ kind: z.string() }),
  probability: z.number(),
  count: z.null(),
  profile: z.literal(true),
});

/** The statuses of sixty calls with possible faults that answer. */
async function weather(seed: string): Promise<readonly number[]> {
  await using simulator = await startTestSimulator({ seed });
  const chances = { request: { server_error: 0.3, rate_limited: 0.2 } };
  expect((await simulator.admin.post('/fault-profile', chances)).status).toBe(200);
  const statuses: number[] = [];
  for (let call = 0; call < 60; call += 1) statuses.push((await simulator.sandbox.get('/wallet')).status);
  return statuses;
}

describe('random faults', () => {
  it('are the same for the same seed and calls, and differ for another seed', async () => {
    const first = await weather('one');
    expect(new Set(first)).toEqual(new Set([200, 429, 503]));
    expect(await weather('one')).toEqual(first);
    expect(await weather('two')).not.toEqual(first);
  });

  it.each(faultProfileNames)('%s has a rule for each of its chances', async (name) => {
    const expected = Object.entries(FAULT_PROFILES[name]).flatMap(([target, chances]) =>
      Object.entries(chances).map(([kind, probability]) => `${target} ${kind} ${String(probability)}`),
    );
    // Not the usual client of the tests: its logins would meet the faults.
    const simulator = await startSimulator({ seed: 'test', faultProfile: name });
    const admin = new HttpClient(`${simulator.url}/simulator`);
    const { data } = (await admin.get('/faults')).read(z.object({ data: z.array(rule) }));
    const shown = data.map(({ target, fault, probability }) => `${target} ${fault.kind} ${probability}`);
    expect(shown.toSorted()).toEqual(expected.toSorted());
    await simulator.close();
  });
});
