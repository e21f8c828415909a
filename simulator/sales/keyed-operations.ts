import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import type { Clock } from '#simulator/clock.ts';
import type { Environment } from '#simulator/environment.ts';
import { ServiceError, type Answer } from '#simulator/service/errors.ts';
import type { IdempotencyKeys, StoredResult } from '#simulator/store/keys.ts';
import type { Store } from '#simulator/store/store.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** One call of an operation that takes an Idempotency-Key. */
export interface KeyedCall {
  readonly operation: EndpointName;
  readonly environment: Environment;
  readonly key: string;
  /** `{id}` of the path; empty where there is none. */
  readonly id: string;
  /** The exact bytes of the body: a key stands for them. */
  readonly rawBody: Uint8Array;
  /** Extra time between the checks and the execution, in milliseconds. */
  readonly workMs: number;
  /** Ends a wait when the simulator stops. */
  readonly signal: AbortSignal;
}

/** What an operation does, in steps, since dialects differ in their order. Each throws a ServiceError to refuse. */
export interface KeyedWork<Item> {
  /** Finds what it is about. */
  find(): Item;
  /** The reseller's reference is new. */
  requireUnique?(): void;
  /** The wallet covers it. */
  requireBalance?(item: Item): void;
  /**
   * Does it, in the transaction that also stores the result under the key. It throws before it has changed anything; a
   * refusal that it returns keeps what it has changed.
   */
  carryOut(item: Item): Answer;
}

export interface KeyedOperationParts {
  readonly store: Store;
  readonly keys: IdempotencyKeys;
  readonly clock: Clock;
  readonly dialect: () => Dialect;
  /** May production buy? */
  readonly approved: () => boolean;
}

/** The one way of every operation with an Idempotency-Key. What a repeated or concurrent key does is the dialect's. */
export class KeyedOperations {
  readonly #parts: KeyedOperationParts;
  /** Keys of operations under way. Lost with the process, as is their work: nothing is written before the execution. */
  readonly #inUse = new Set<string>();

  constructor(parts: KeyedOperationParts) {
    this.#parts = parts;
  }

  /** @throws ServiceError when the operation is refused. */
  async run<Item>(call: KeyedCall, work: KeyedWork<Item>): Promise<Answer> {
    if (call.environment === 'production' && !this.#parts.approved()) {
      throw new ServiceError(403, 'not_approved', 'This reseller is not approved for production yet.');
    }
    const dialect = this.#parts.dialect();
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
      // Checked early and not again, as a service without locks does: two at once both pass.
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

  /** What the operation changes, its events and the key's result: all or nothing. */
  #execute<Item>(call: KeyedCall, work: KeyedWork<Item>, fingerprint: string, dialect: Dialect): Answer {
    const { store, keys, clock } = this.#parts;
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
    const known = this.#parts.keys.find(call.environment, call.key);
    if (known === undefined || dialect.key_retention_ms === null) return known;
    return known.createdAt + dialect.key_retention_ms > this.#parts.clock.now() ? known : undefined;
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

/** A key stands for one operation on one thing with one body. */
function fingerprintOf({ operation, id, rawBody }: KeyedCall): string {
  return createHash('sha256').update(`${operation} ${id}\n`).update(rawBody).digest('hex');
}

function repeated(known: StoredResult, fingerprint: string, dialect: Dialect): Answer {
  if (known.fingerprint !== fingerprint) {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used with another request.');
  }
  if (dialect.key_replay === 'conflict') {
    throw new ServiceError(409, 'idempotency_key_reused', 'This Idempotency-Key was used already.');
  }
  return { status: known.status, body: known.body, headers: { 'Content-Type': 'application/json' } };
}
