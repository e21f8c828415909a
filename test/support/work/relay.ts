import { sql } from 'drizzle-orm';
import type { Database } from '#db/connection/database.ts';
import { Wakeups } from '#db/connection/wakeups.ts';
import { inbox, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import type { OpenTestDatabase } from '#test/support/servers/database.ts';
import { TEST_KEYS } from '#test/support/work/order-rows.ts';
import { Relay, type RelayOptions, type WorkWorkflows } from '#worker/relay/relay.ts';

/** A fake of Temporal whose signals wait for the test's answer. */
export class ControlledWorkflows implements WorkWorkflows {
  readonly calls: {
    readonly observation: ServiceObservation;
    succeed(outcome?: NotifyOutcome): void;
    fail(error: Error): void;
  }[] = [];

  async start() {
    return 'started' as const;
  }

  async wake() {
    return 'notified' as const;
  }

  async signalReport(_: WorkStart, observation: ServiceObservation): Promise<NotifyOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<NotifyOutcome>();
    this.calls.push({ observation, succeed: (outcome = 'notified') => resolve(outcome), fail: reject });
    return promise;
  }
}

/** A relay on a test database. Close it at the end. */
export function testRelay(opened: OpenTestDatabase, workflows: WorkWorkflows, overrides: Partial<RelayOptions> = {}) {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const wakeups = new Wakeups({ channel: 'relay', url: opened.url, applicationName: 'relay-listen', logger });
  const relay = new Relay({
    database: opened.database,
    keyRing: TEST_KEYS,
    workflows,
    endpoints: { wake: async () => undefined },
    wakeups,
    policy: { ...DEFAULT_POLICY.relay, pollMs: 60_000 },
    metrics: createMetrics({ processMetrics: false }),
    logger,
    now: Date.now,
    ...overrides,
  });
  return {
    relay,
    wakeups,
    close: async () => {
      await relay.stop();
      await wakeups.close();
    },
  };
}

/** Moves the time of the relay's queues forward: rows become due, and leases end. */
export async function passQueueTime(database: Database, ms: number): Promise<void> {
  const earlier = sql`available_at - ${ms}::double precision * interval '1 millisecond'`;
  await database.run((db) => db.update(inbox).set({ availableAt: earlier }));
  await database.run((db) => db.update(outbox).set({ availableAt: earlier }));
}
