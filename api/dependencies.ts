import type { AcceptedSecret } from '#crypto/webhook-signature.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/database.ts';
import type { InboxIntake } from '#db/inbox-intake.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { ReadinessCheck } from '#telemetry/readiness.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** Everything that the API is made of; `main.ts` puts in the real parts, tests what they need. */
export interface ApiDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  /** What we ask the service on behalf of our callers. */
  readonly service: Pick<ServiceClient, 'listPackages' | 'getWallet'>;
  readonly intake: Pick<InboxIntake, 'accept'>;
  /** Tells the relay that there is work. */
  readonly wakeRelay: () => void;
  readonly webhookSecrets: readonly AcceptedSecret[];
  readonly bodyLimitBytes: number;
  /** What `/readyz` asks, by name. */
  readonly readinessChecks: Readonly<Record<string, ReadinessCheck>>;
  /** Why nothing but probes and documentation is answered at present; undefined when everything is. */
  readonly closedBecause: () => string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
