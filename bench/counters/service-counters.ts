import * as z from 'zod';

const state = z.object({ environments: z.object({ sandbox: z.object({ requests: z.int() }) }) });

/** Calls of the service so far, by the simulator's own log. @param simulatorUrl of the contestant's simulator. */
export async function serviceCalls(simulatorUrl: string): Promise<number> {
  const answer = state.parse(await (await fetch(`${simulatorUrl}/simulator/state`)).json());
  return answer.environments.sandbox.requests;
}
