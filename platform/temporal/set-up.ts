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

/**
 * Idempotent; may run in several processes at once.
 * @throws TemporalUnavailableError; NamespaceSetUpError when an attribute has another type, or we may not create one.
 */
export async function setUpNamespace(config: TemporalConfig) {
  const connection = await connect(config);
  try {
    const namespaceCreated = await ensureNamespace(connection, config.namespace);
    const searchAttributesAdded = await ensureSearchAttributes(connection, config.namespace);
    return { namespaceCreated, searchAttributesAdded };
  } finally {
    await connection.close();
  }
}

/** Changes nothing. @throws NamespaceSetUpError; ServiceError of Temporal's client without permission to read. */
export async function checkNamespace(connection: Connection, namespace: string) {
  const exists = await namespaceExists(connection, namespace);
  const missing = (exists ? await missingSearchAttributes(connection, namespace) : undefined) ?? WANTED;
  return { exists, missingSearchAttributes: [...missing.keys()] };
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
  return (await unlessNotFound(connection.workflowService.describeNamespace({ namespace }))) !== undefined;
}

/** By the protocol's number of its type. */
const WANTED: ReadonlyMap<string, number> = new Map(
  Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => [name, encodeSearchAttributeIndexedValueType(type) ?? 0]),
);

async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  let added: string[] = [];
  await until(`the search attributes of ${namespace}`, async (retryLater) => {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing === undefined) return false;
    if (missing.size === 0) {
      // The frontend knows new search attributes later than the list shows them.
      const query = [...WANTED.keys()].map((name) => `${name} IS NULL`).join(' AND ');
      const used = connection.workflowService.countWorkflowExecutions({ namespace, query });
      return used.then(() => true, retryLater);
    }
    try {
      const searchAttributes = Object.fromEntries(missing);
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
      added = [...missing.keys()];
      return false;
    } catch (error) {
      if (grpcStatus(error) === GRPC_STATUS.permissionDenied) throw mayNotAdd(namespace, missing, error);
      // Another process may be adding them now.
      return retryLater(error);
    }
  });
  return added;
}

/** Undefined while the operator service does not know a new namespace. @throws NamespaceSetUpError: another type */
async function missingSearchAttributes(connection: Connection, namespace: string) {
  const listed = await unlessNotFound(connection.operatorService.listSearchAttributes({ namespace }));
  if (listed === undefined) return undefined;
  const { customAttributes } = listed;
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

async function unlessNotFound<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (grpcStatus(error) === GRPC_STATUS.notFound) return undefined;
    throw error;
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

/** @param isReady calls its argument with an error that may pass. */
async function until(what: string, isReady: (retryLater: (error: unknown) => false) => Promise<boolean>) {
  const deadline = performance.now() + USABLE_WITHIN_MS;
  let cause: unknown;
  const retryLater = (error: unknown) => {
    cause = error;
    return false as const;
  };
  while (!(await isReady(retryLater))) {
    if (performance.now() > deadline) {
      const seconds = USABLE_WITHIN_MS / 1_000;
      throw new NamespaceSetUpError(`Temporal did not make ${what} usable within ${seconds} s.`, { cause });
    }
    await delay(POLL_MS);
  }
}
