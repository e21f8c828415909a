import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { type Answer, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { StoredResult } from '#simulator/store/requests.ts';
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
export class KeyedOperations {
  readonly #simulation: Simulation;
  /** Lost with the process, as is the operation: nothing is written before the execution. */
  readonly #inUse = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  async run<Item>(call: KeyedCall, work: KeyedWork<Item>): Promise<Answer> {
    if (call.environment === 'production' && !this.#simulation.approved) {
      throw new ServiceError(403, 'not_approved', 'This reseller is not approved for production yet.');
    }
    const dialect = this.#simulation.dialect;
    if (dialect.checks_balance_before_key && work.requireBalance !== undefined) work.requireBalance(work.find());

    const fingerprint = fingerprintOf(call);
    const known = this.#knownResult(call, dialect);
    if (known !== undefined) return repeated(known, fingerprint, dialect);

    const slot = `${call.environment}\n${call.key}`;
    if (dialect.serialises_same_key) {
      if (this.#inUse.has(slot)) {
        throw new ServiceError(409, 'idempotency_key_in_use', 'A request with this Idempotency-Key is under way.');
      }
      this.#inUse.add(slot);
    } else if (dialect.reference_unique) {
      // Once and early, as a service without locks does: two concurrent calls both pass.
      work.requireUnique?.();
    }
    try {
      const wait = dialect.purchase_takes_ms + call.workMs;
      if (wait > 0) await delay(wait, undefined, { signal: call.signal });
      return this.#execute(call, work, fingerprint, dialect);
    } finally {
      if (dialect.serialises_same_key) this.#inUse.delete(slot);
    }
  }

  /** Changes, events and the result of the key in one transaction. */
  #execute<Item>(call: KeyedCall, work: KeyedWork<Item>, fingerprint: string, dialect: Dialect): Answer {
    const { store, keys, clock } = this.#simulation;
    return store.transaction(() => {
      const answer = doOrRefuse(work, dialect);
      const { status, body } = answer;
      if (dialect.key_retention_ms !== 0 && (status < 400 || dialect.stores_4xx)) {
        keys.save(call.environment, { key: call.key, fingerprint, status, body, createdAt: clock.now() });
      }
      return answer;
    });
  }

  #knownResult(call: KeyedCall, dialect: Dialect): StoredResult | undefined {
    const known = this.#simulation.keys.find(call.environment, call.key);
    if (known === undefined || dialect.key_retention_ms === null) return known;
    return known.createdAt + dialect.key_retention_ms > this.#simulation.clock.now() ? known : undefined;
  }
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

function fingerprintOf({ operation, id, rawBody }: KeyedCall): string {
  return createHash('sha256').update(`${operation} ${id}\n`).update(rawBody).digest('hex');
}

function repeated(known: StoredResult, fingerprint: string, dialect: Dialect): Answer {
  if (known.fingerprint !== fingerprint) {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used with another request.');
  }
  if (dialect.key_replay === 'conflict') {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was already used.');
  }
  return { status: known.status, body: known.body, headers: { 'Content-Type': 'application/json' } };
}
