/**
 * `npm run record:examples`: creates resources with the product and the simulator, calls every operation of the API,
 * and writes the calls to `api/openapi/examples.json`, the source of the examples in /openapi.json.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStream } from '#scripts/api/api-document.ts';
import { DescribedClient } from '#test/documentation/described-client.ts';
import { EXAMPLES_STACK, createExamples, type Ids } from '#test/documentation/example-resources.ts';
import { publishable } from '#test/documentation/publishable.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';

const FILE = join(import.meta.dirname, '../../api/openapi/examples.json');

const { servers, stop } = await startSharedServers();
try {
  await using stack = await startStack({ ...EXAMPLES_STACK, servers });
  const client = await DescribedClient.at(stack);
  const ids = await createExamples(stack, client);
  const without = await readTheRest(client, ids);
  writeFileSync(FILE, `${JSON.stringify(publishable(client.exchanges, { shown: shownIds(client, ids) }), null, 1)}\n`);
  process.stdout.write(`${client.exchanges.length} calls in ${FILE}\n`);
  if (without.length > 0) process.stdout.write(`without an example: ${without.join(', ')}\n`);
} finally {
  await stop();
}

/** Example ids of the description, by the id of this run that they replace. */
function shownIds(client: DescribedClient, ids: Ids): ReadonlyMap<string, string> {
  const parameters = [...client.operations.values()].flatMap((operation) => operation.parameters);
  return new Map(
    parameters.flatMap(({ schema }) => {
      const id = ids[schema['x-kind'] ?? ''];
      return id === undefined || typeof schema['example'] !== 'string' ? [] : [[id, schema['example']]];
    }),
  );
}

/** Calls each read operation that was not called yet. @returns the operations without an example. */
async function readTheRest(client: DescribedClient, ids: Ids): Promise<string[]> {
  const made = () =>
    new Set(client.exchanges.filter(({ response }) => response.status < 400).map(({ operation }) => operation));
  for (const operation of client.operations.values()) {
    const { id, method, parameters } = operation;
    if (method !== 'get' || isStream(operation) || made().has(id)) continue;
    const needed = parameters.filter((each) => each.in === 'path');
    const values = needed.map(({ name, schema }) => [name, ids[id] ?? ids[schema['x-kind'] ?? '']] as const);
    if (values.some(([, value]) => value === undefined || value === '')) continue;
    // Browsers get a page. The example is the JSON.
    const headers: Record<string, string> = id === 'getProblem' ? { Accept: 'application/json' } : {};
    const query = id === 'getLatestUpdate' ? { current_version: '2.4.0', channel: 'stable' } : {};
    const params = Object.fromEntries(values.map(([name, value]) => [name, value ?? '']));
    // A read that fails here has no example.
    await client
      .call(id, { params, query, headers })
      .catch((error: unknown) => process.stderr.write(`${id}: ${String(error)}\n`));
  }
  return [...client.operations.keys()].filter((id) => !made().has(id));
}
