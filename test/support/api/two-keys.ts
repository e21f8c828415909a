/** Two own-work keys, for tests of what one of them sees of the other. */
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { startTestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

/** Both are own-work keys with every scope. The second has created all kinds of resources. */
export async function startWithTwoKeys() {
  // The first heartbeat of a stream shows that it has caught up.
  const api = await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 100 } });
  const limited = await api.caller(undefined, { ownWorkOnly: true });
  const other = await api.caller(undefined, { ownWorkOnly: true });
  return { api, limited, other, others: await makeOwnWork(api, other) };
}

/** An answer without the parts that differ between requests. */
export const comparable = ({ status, body }: HttpAnswer) => ({ status, body: { ...(body as object), request_id: '' } });
