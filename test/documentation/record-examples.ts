/**
 * `npm run record:examples`: carries one of each through the whole product against the simulator, makes every call of
 * the API, and writes what was said to `api/openapi/examples.json`, from which the examples of /openapi.json come.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStream } from '#scripts/api/described-api.ts';
import { Clerk } from '#test/documentation/clerk.ts';
import { FOR_ONE_OF_EACH, oneOfEach, type Ids } from '#test/documentation/one-of-each.ts';
import { publishable } from '#test/documentation/publishable.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';

const FILE = join(import.meta.dirname, '../../api/openapi/examples.json');

const { servers, stop } = await startSharedServers();
try {
  await using stack = await startStack({ ...FOR_ONE_OF_EACH, servers });
  const clerk = await Clerk.at(stack);
  const ids = await oneOfEach(stack, clerk);
  const without = await readTheRest(clerk, ids);
  writeFileSync(FILE, `${JSON.stringify(publishable(clerk.exchanges, { shown: shownIds(clerk, ids) }), null, 1)}\n`);
  process.stdout.write(`${clerk.exchanges.length} calls in ${FILE}\n`);
  if (without.length > 0) process.stdout.write(`without an example: ${without.join(', ')}\n`);
} finally {
  await stop();
}

/** The ids that the description shows as examples, by those that stand for them in this run. */
function shownIds(clerk: Clerk, ids: Ids): ReadonlyMap<string, string> {
  const parameters = [...clerk.operations.values()].flatMap((operation) => operation.parameters);
  return new Map(
    parameters.flatMap(({ schema }) => {
      const id = ids[schema['x-kind'] ?? ''];
      return id === undefined || typeof schema['example'] !== 'string' ? [] : [[id, schema['example']]];
    }),
  );
}

/** Makes each call that only reads and was not made yet. @returns the operations that stay without an example. */
async function readTheRest(clerk: Clerk, ids: Ids): Promise<string[]> {
  const made = () =>
    new Set(clerk.exchanges.filter(({ response }) => response.status < 400).map(({ operation }) => operation));
  for (const operation of clerk.operations.values()) {
    const { id, method, parameters } = operation;
    if (method !== 'get' || isStream(operation) || made().has(id)) continue;
    const needed = parameters.filter((each) => each.in === 'path');
    const values = needed.map(({ name, schema }) => [name, ids[id] ?? ids[schema['x-kind'] ?? '']] as const);
    if (values.some(([, value]) => value === undefined || value === '')) continue;
    // People are answered with a page; the example is what programs get.
    const headers: Record<string, string> = id === 'getProblem' ? { Accept: 'application/json' } : {};
    const query = id === 'getLatestUpdate' ? { current_version: '2.4.0', channel: 'stable' } : {};
    const params = Object.fromEntries(values.map(([name, value]) => [name, value ?? '']));
    // Not every read can answer here; what it answers then is no example.
    await clerk
      .call(id, { params, query, headers })
      .catch((error: unknown) => process.stderr.write(`${id}: ${String(error)}\n`));
  }
  return [...clerk.operations.keys()].filter((id) => !made().has(id));
}
