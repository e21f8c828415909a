import { join } from 'node:path';
import { isStream, type DescribedOperation } from '#scripts/api/described-api.ts';
import type { Clerk } from '#test/documentation/clerk.ts';
import type { Ids } from '#test/documentation/one-of-each.ts';

/** Checks that ask for the opposite of what is meant. */
const NOT_CHECKED: Readonly<Record<string, readonly string[]>> = {
  // Whatever is signed is stored, be it nonsense: it is quarantined and shown to an operator.
  receiveServiceWebhook: ['negative_data_rejection'],
};

/** How a request that breaks its schema may be answered: what schemathesis expects, and 413. */
const REFUSALS = ['400', '401', '403', '404', '405', '406', '409', '413', '415', '422', '428', '429', '5xx'];

/** What takes away what the others are about: ids that exist are not given to it. */
const DESTROYS = new Set(['deleteWebhookEndpoint']);

/** Where schemathesis reads the description; by itself it makes no other request there. */
const DESCRIPTION = 'getOpenApi';

/**
 * Tells whether no request is made to an operation: neither there nor to a stream, whose answer has no end that could
 * be waited for.
 */
export function isLeftOut(operation: DescribedOperation): boolean {
  return operation.id === DESCRIPTION || isStream(operation);
}

/**
 * What schemathesis is told beside the description itself: the key, and ids that exist, since an id that was made up
 * leads to 404 and no further.
 */
export function schemathesisSettings(clerk: Clerk, ids: Ids, { apiKey }: { readonly apiKey: string }): string {
  const lines = [
    `headers = { Authorization = ${text(`Bearer ${apiKey}`)} }`,
    'request-timeout = 10.0',
    `hooks = ${text(join(import.meta.dirname, 'hooks.py'))}`,
    '',
    '[checks]',
    'enabled = true',
    // A list that is longer than its schema allows may be longer than a body may be.
    `negative_data_rejection.expected-statuses = ${JSON.stringify(REFUSALS)}`,
    '',
  ];
  for (const operation of clerk.operations.values()) {
    const { id, parameters } = operation;
    if (isStream(operation)) lines.push('[[operations]]', `include-operation-id = ${text(id)}`, 'enabled = false', '');
    const known = parameters
      .filter((each) => each.in === 'path')
      .map(({ name, schema }) => [name, ids[id] ?? ids[schema['x-kind'] ?? '']] as const)
      .filter(([, value]) => value !== undefined && value !== '');
    if (known.length === 0 || DESTROYS.has(id)) continue;
    lines.push(
      '[[operations]]',
      `include-operation-id = ${text(id)}`,
      `parameters = { ${known.map(([name, value]) => `"path.${name}" = ${text(value ?? '')}`).join(', ')} }`,
    );
    // What goes by an id that was given to it is not what it has created before; and that may be deleted by then.
    lines.push('checks.ensure_resource_availability.enabled = false', '');
  }
  for (const [id, checks] of Object.entries(NOT_CHECKED)) {
    lines.push(
      '[[operations]]',
      `include-operation-id = ${text(id)}`,
      ...checks.map((check) => `checks.${check}.enabled = false`),
      '',
    );
  }
  return lines.join('\n');
}

function text(value: string): string {
  return JSON.stringify(value);
}
