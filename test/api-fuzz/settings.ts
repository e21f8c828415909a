import { join } from 'node:path';
import { type DescribedOperation, isStream } from '#scripts/api/api-document.ts';
import type { DescribedClient } from '#test/api-fuzz/described-client.ts';
import type { Ids } from '#test/api-fuzz/example-resources.ts';

/** Checks that contradict the design of an operation. */
const NOT_CHECKED: Readonly<Record<string, readonly string[]>> = {
  // Every signed body is stored, also an invalid one. It is quarantined and shown to an operator.
  receiveServiceWebhook: ['negative_data_rejection'],
  // Whether a purchase is possible depends on the offers of the service and on the quote, which no schema describes.
  createOrder: ['positive_data_acceptance'],
  createOrderBatch: ['positive_data_acceptance'],
  createTopup: ['positive_data_acceptance'],
  createVpnSubscription: ['positive_data_acceptance'],
  createQuote: ['positive_data_acceptance'],
  // `expand` needs `Prefer: wait`.
  cancelEsim: ['positive_data_acceptance'],
  // Two days of one span, and the names of time zones, which no schema lists.
  getSales: ['positive_data_acceptance'],
  exportSales: ['positive_data_acceptance'],
  // DELETE ends these; their record stays readable.
  getPause: ['use_after_free'],
  getShareLink: ['use_after_free'],
  getPricingRule: ['use_after_free'],
  listPricingRuleVersions: ['use_after_free'],
};

/** Allowed answers to a request with an invalid body: those that schemathesis expects, and 413. */
const REFUSALS = ['400', '401', '403', '404', '405', '406', '409', '413', '415', '422', '428', '429', '5xx'];

/** Operations that delete resources of the others. They get no existing ids. */
const DESTROYS = new Set(['deleteWebhookEndpoint', 'revokeShareLink']);

/** The operation that returns the description. Schemathesis makes no other request to it. */
const DESCRIPTION = 'getOpenApi';

/** True for operations without requests: the description, and streams, whose answers have no end. */
export function isLeftOut(operation: DescribedOperation): boolean {
  return operation.id === DESCRIPTION || isStream(operation);
}

/** Settings of schemathesis: the API key, and existing ids, because a random id only leads to 404. */
export function schemathesisSettings(client: DescribedClient, ids: Ids, apiKey: string): string {
  const lines = [
    `headers = { Authorization = ${text(`Bearer ${apiKey}`)} }`,
    'request-timeout = 10.0',
    `hooks = ${text(join(import.meta.dirname, 'hooks.py'))}`,
    '',
    '[checks]',
    'enabled = true',
    // A list that exceeds its schema may exceed the size limit of bodies, too.
    `negative_data_rejection.expected-statuses = ${JSON.stringify(REFUSALS)}`,
    '',
  ];
  for (const operation of client.operations.values()) {
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
    // The given ids are not of resources that schemathesis has created, and those may be deleted.
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
