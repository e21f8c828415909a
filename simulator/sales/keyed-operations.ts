import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { type Answer, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { KeyedResult } from '#simulator/store/rows.ts';
import type { Environment } from '#simulator/store/store.ts';
import type { EndpointName } from '#upstream/contract.ts';

export interface KeyedCall {
  readonly operation: EndpointName;
  readonly environment: Environment;
  readonly key: string;
  readonly id: string;
  /** The exact bytes: a key belongs to one body. */
  readonly rawBody: Uint8Array;
  /** Between the checks and the execution. */
  readonly workMs: number;
  readonly signal: AbortSignal;
}

/** Dialects differ in the order of the steps. Each refuses by throwing a ServiceError. */
export interface KeyedWork<Item> {
  find(): Item;
  requireUnique?(): void;
  requireBalance?(item: Item): void;
  /**
   * Runs in the transaction that stores the result. Throws only before a change; a returned refusal keeps its changes.
   */
  carryOut(item: Item): Answer;
}

/** The dialect decides about repeated and concurrent keys. */
export async function runKeyed<Item>(simulation: Simulation, call: KeyedCall, work: KeyedWork<Item>): Promise<Answer> {
  const { dialect, keysInUse } = simulation;
  if (call.environment === 'production' && !simulation.approved) {
    throw new ServiceError(403, 'not_approved', 'This reseller is not approved for production yet.');
  }
  if (dialect.checks_balance_before_key && work.requireBalance !== undefined) work.requireBalance(work.find());

  const named = `${call.operation} ${call.id}\n`;
  const fingerprint = createHash('sha256').update(named).update(call.rawBody).digest('hex');
  const known = knownResult(simulation, call);
  if (known !== undefined) return repeated(known, fingerprint, dialect);

  const slot = `${call.environment}\n${call.key}`;
  if (dialect.serialises_same_key) {
    if (keysInUse.has(slot)) {
      throw new ServiceError(409, 'idempotency_key_in_use', 'A request with this Idempotency-Key is under way.');
    }
    keysInUse.add(slot);
  } else if (dialect.reference_unique) {
    // Once and early, as a service without locks does: two concurrent calls both pass.
    work.requireUnique?.();
  }
  try {
    const wait = dialect.purchase_takes_ms + call.workMs;
    if (wait > 0) await delay(wait, undefined, { signal: call.signal });
    return execute(simulation, call, work, fingerprint);
  } finally {
    if (dialect.serialises_same_key) keysInUse.delete(slot);
  }
}

/** Changes, events and the result of the key in one transaction. */
function execute<Item>(simulation: Simulation, call: KeyedCall, work: KeyedWork<Item>, fingerprint: string): Answer {
  const { store, clock, dialect } = simulation;
  return store.transaction(() => {
    const answer = doOrRefuse(work, dialect);
    const { status, body } = answer;
    if (dialect.key_retention_ms !== 0 && (status < 400 || dialect.stores_4xx)) {
      const { environment, key } = call;
      // A forgotten or concurrent key keeps its latest result.
      const result = { environment, key, fingerprint, status, body, created_at: clock.now() };
      store.insert('idempotency_keys', result, 'REPLACE');
    }
    return answer;
  });
}

function knownResult({ store, clock, dialect }: Simulation, { environment, key }: KeyedCall): KeyedResult | undefined {
  const known = store.get('idempotency_keys', { environment, key });
  if (known === undefined || dialect.key_retention_ms === null) return known;
  return known.created_at + dialect.key_retention_ms > clock.now() ? known : undefined;
}

function doOrRefuse<Item>(work: KeyedWork<Item>, dialect: Dialect): Answer {
  try {
    const item = work.find();
    if (dialect.reference_unique && dialect.serialises_same_key) work.requireUnique?.();
    work.requireBalance?.(item);
    return work.carryOut(item);
  } catch (error) {
    if (error instanceof ServiceError && dialect.stores_4xx) return error.answer();
    throw error;
  }
}

function repeated(known: KeyedResult, fingerprint: string, dialect: Dialect): Answer {
  if (known.fingerprint !== fingerprint) {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used with another request.');
  }
  if (dialect.key_replay === 'conflict') {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was already used.');
  }
  return { status: known.status, body: known.body, headers: { 'Content-Type': 'application/json' } };
}
