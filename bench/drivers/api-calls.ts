import { randomUUID } from 'node:crypto';
import { Client } from 'undici';
import { type ApiCallTask, closedLoop, orderRequest, serve } from '#bench/drivers/protocol.ts';

serve(async (task: ApiCallTask) => {
  // One connection per lane, as a shop keeps them, without pipelining.
  const connections = Array.from({ length: task.atOnce }, () => new Client(task.origin, { pipelining: 1 }));
  try {
    return await closedLoop(task, async (number, lane) => {
      const connection = connections[lane];
      if (connection === undefined) throw new RangeError('more lanes than planned');
      const answer = await connection.request(requestOf(task, number));
      const text = await answer.body.text();
      if (answer.statusCode !== (task.call.kind === 'order' ? 202 : 200))
        throw new Error(`a call was answered with ${answer.statusCode}: ${text}`);
    });
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
});

function requestOf({ apiKey, call }: ApiCallTask, number: number) {
  const authorization = `Bearer ${apiKey}`;
  if (call.kind === 'get')
    return { method: 'GET', path: call.paths[number % call.paths.length] ?? '/', headers: { authorization } } as const;
  if (call.kind === 'post')
    return { method: 'POST', path: `${call.pathPrefix}${randomUUID()}`, headers: { authorization } } as const;
  return orderRequest(apiKey, call.packageId);
}
