/**
 * The one rule for envelopes, on schemas: `{"data": …}`, `{"data": {"order": …}}`, `{"items": […]}`, a bare list. An object
 * is an envelope when it has nothing of what we look for and exactly one field that may hold it.
 */
import { UnresolvedReference, type JsonObject } from '#upstream/contract-check/document.ts';
import { formsOf, type SchemaView } from '#upstream/contract-check/schema-view.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** Names that say nothing of what is inside. */
const GENERAL_NAMES = ['data', 'result', 'items', 'results'];

const RESOURCES: Readonly<Record<EndpointName, string>> = {
  login: 'token',
  listPackages: 'package',
  createOrder: 'order',
  getOrder: 'order',
  listOrders: 'order',
  getEsim: 'esim',
  getWallet: 'wallet',
  listWalletTransactions: 'transaction',
  getEsimUsage: 'usage',
  listTopupOptions: 'package',
  createTopup: 'topup',
  getTopup: 'topup',
  listTopups: 'topup',
  cancelEsim: 'cancellation',
  getRefund: 'refund',
  listRefunds: 'refund',
  listVpnPlans: 'plan',
  createVpnOrder: 'subscription',
  getVpnSubscription: 'subscription',
  listVpnSubscriptions: 'subscription',
  cancelVpnSubscription: 'subscription',
  listPublicPackages: 'package',
  getLatestUpdate: 'update',
  getOpenApi: 'openapi',
  simulateEsim: 'esim',
  createWebhookSecret: 'webhook_secret',
  rotateWebhookSecret: 'webhook_secret',
};

/** Names of fields that may hold what a call returns. */
export function envelopeNames(endpoint: EndpointName): readonly string[] {
  return envelopesOf(RESOURCES[endpoint]);
}

/** @param resource in the singular. */
export function envelopesOf(resource: string): readonly string[] {
  return [...GENERAL_NAMES, resource, `${resource}s`];
}

const MAX_LAYERS = 3;

export interface Peeled {
  /** Names of the fields that were gone into; empty where there is no envelope. */
  readonly path: readonly string[];
  readonly forms: readonly SchemaView[];
}

/**
 * Takes the envelopes off.
 *
 * @param wanted.kind whether a list is looked for, or an object that has one of the needed fields.
 * @param wanted.names the fields that are needed; of a list, none.
 * @param wanted.envelopes names that an envelope may have.
 */
export function peeled(
  document: JsonObject,
  forms: readonly SchemaView[],
  wanted: { readonly kind: 'object' | 'array'; readonly names: readonly string[]; readonly envelopes: readonly string[] },
): Peeled {
  let current: Peeled = { path: [], forms };
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    if (wanted.kind === 'array' && mayBe(current.forms, 'array')) return current;
    const properties = fieldsOf(current.forms);
    if (wanted.names.some((name) => properties.has(name))) return current;
    const inner = wanted.envelopes.flatMap((name) => {
      const schemas = properties.get(name);
      if (schemas === undefined) return [];
      const inside = formsOfAny(document, schemas);
      const fits = mayBe(inside, 'object') || (wanted.kind === 'array' && mayBe(inside, 'array'));
      return fits ? [{ path: [...current.path, name], forms: inside }] : [];
    });
    const [only, another] = inner;
    if (only === undefined || another !== undefined) return current;
    current = only;
  }
  return current;
}

/** None where a reference leads nowhere: then nothing can be said of what is inside. */
function formsOfAny(document: JsonObject, schemas: readonly unknown[]): readonly SchemaView[] {
  try {
    return formsOf(document, schemas.length === 1 ? schemas[0] : { anyOf: schemas });
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    return [];
  }
}

function fieldsOf(forms: readonly SchemaView[]): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>();
  for (const { properties } of forms) {
    for (const [name, schema] of properties) fields.set(name, [...(fields.get(name) ?? []), schema]);
  }
  return fields;
}

function mayBe(forms: readonly SchemaView[], type: 'object' | 'array'): boolean {
  return forms.some(({ types }) => types?.has(type) === true);
}
