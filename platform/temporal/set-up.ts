import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TemporalConfig } from '#config/config.ts';
import { connect, GRPC_STATUS, grpcStatus } from '#temporal/connection.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

/** Retention of a namespace that we create. Business facts remain in PostgreSQL. */
const RETENTION_DAYS = 30;

/** On PostgreSQL all services of the server know a new search attribute after up to half a minute. */
const USABLE_WITHIN_MS = 60_000;
const POLL_MS = 200;

/** The message contains advice. */
export class NamespaceSetUpError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NamespaceSetUpError';
  }
}

export interface SetUpResult {
  readonly namespaceCreated: boolean;
  readonly searchAttributesAdded: readonly string[];
}

/**
 * Idempotent; may run in several processes at once.
 * @throws TemporalUnavailableError; NamespaceSetUpError when an attribute has another type, or we may not create one.
 */
export async function setUpNamespace(config: TemporalConfig): Promise<SetUpResult> {
  const connection = await connect(config);
  try {
    const namespaceCreated = await ensureNamespace(connection, config.namespace);
    const searchAttributesAdded = await ensureSearchAttributes(connection, config.namespace);
    return { namespaceCreated, searchAttributesAdded };
  } finally {
    await connection.close();
  }
}

export interface NamespaceState {
  readonly exists: boolean;
  readonly missingSearchAttributes: readonly string[];
}

/** Changes nothing. @throws NamespaceSetUpError; ServiceError of Temporal's client without permission to read. */
export async function checkNamespace(connection: Connection, namespace: string): Promise<NamespaceState> {
  const exists = await namespaceExists(connection, namespace);
  const missing = exists ? await missingSearchAttributes(connection, namespace) : new NotYet();
  return { exists, missingSearchAttributes: [...(missing instanceof NotYet ? WANTED : missing).keys()] };
}

async function ensureNamespace(connection: Connection, namespace: string): Promise<boolean> {
  if (await namespaceExists(connection, namespace)) return false;
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Order fulfilment of a reseller of eSIM data packages',
      workflowExecutionRetentionPeriod: msToTs(`${RETENTION_DAYS} days`),
    });
  } catch (error) {
    if (grpcStatus(error) === GRPC_STATUS.permissionDenied) {
      throw new NamespaceSetUpError(
        `The namespace ${namespace} does not exist and we may not create it. Create it, or set TEMPORAL_NAMESPACE.`,
        { cause: error },
      );
    }
    if (grpcStatus(error) !== GRPC_STATUS.alreadyExists) throw error;
  }
  await until(`the namespace ${namespace}`, () => namespaceExists(connection, namespace));
  return true;
}

async function namespaceExists(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  } catch (error) {
    if (grpcStatus(error) === GRPC_STATUS.notFound) return false;
    throw error;
  }
}

/** By the protocol's number of its type. */
const WANTED: ReadonlyMap<string, number> = new Map(
  Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => [name, encodeSearchAttributeIndexedValueType(type) ?? 0]),
);

async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  let added: string[] = [];
  await until(`the search attributes of ${namespace}`, async () => {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing instanceof NotYet) return missing;
    if (missing.size === 0) return areUsable(connection, namespace);
    try {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing),
      });
      added = [...missing.keys()];
    } catch (error) {
      if (grpcStatus(error) === GRPC_STATUS.permissionDenied) throw mayNotAdd(namespace, missing, error);
      // Another process may be adding them now.
      return new NotYet(error);
    }
    return new NotYet();
  });
  return added;
}

/** @throws NamespaceSetUpError when one has another type. */
async function missingSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<ReadonlyMap<string, number> | NotYet> {
  const customAttributes = await existingSearchAttributes(connection, namespace);
  if (customAttributes instanceof NotYet) return customAttributes;
  const conflicts = [...WANTED]
    .filter(([name, type]) => (customAttributes[name] ?? type) !== type)
    .map(([name]) => name);
  if (conflicts.length > 0) {
    throw new NamespaceSetUpError(
      `The namespace ${namespace} has search attributes with our names and other types: ${conflicts.join(', ')}. ` +
        'Remove them there, or set TEMPORAL_NAMESPACE to a namespace of our own.',
    );
  }
  return new Map([...WANTED].filter(([name]) => customAttributes[name] === undefined));
}

/** NotYet while the operator service does not know a new namespace. */
async function existingSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<Readonly<Record<string, number>> | NotYet> {
  try {
    return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
  } catch (error) {
    if (grpcStatus(error) === GRPC_STATUS.notFound) return new NotYet(error);
    throw error;
  }
}

/** The frontend knows new search attributes later than the list shows them. */
async function areUsable(connection: Connection, namespace: string): Promise<true | NotYet> {
  const query = [...WANTED.keys()].map((name) => `${name} IS NULL`).join(' AND ');
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    return new NotYet(error);
  }
}

function mayNotAdd(namespace: string, missing: ReadonlyMap<string, number>, cause: unknown): NamespaceSetUpError {
  const wanted = Object.values(SEARCH_ATTRIBUTES).filter(({ name }) => missing.has(name));
  return new NamespaceSetUpError(
    `We may not add search attributes to the namespace ${namespace}. Add these there: ` +
      `${wanted.map(({ name, type }) => `${name} (${type})`).join(', ')}.`,
    { cause },
  );
}

class NotYet {
  readonly reason: unknown;

  constructor(reason?: unknown) {
    this.reason = reason;
  }
}

async function until(what: string, isReady: () => Promise<boolean | NotYet>): Promise<void> {
  const deadline = performance.now() + USABLE_WITHIN_MS;
  for (;;) {
    const answer = await isReady();
    if (answer === true) return;
    if (performance.now() > deadline) {
      const options = answer instanceof NotYet && answer.reason !== undefined ? { cause: answer.reason } : undefined;
      const seconds = USABLE_WITHIN_MS / 1_000;
      throw new NamespaceSetUpError(`Temporal did not make ${what} usable within ${seconds} s.`, options);
    }
    await delay(POLL_MS);
  }
}
