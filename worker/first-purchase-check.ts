import type { Database } from '#db/connection/database.ts';
import { judgeFirstPurchaseCheck } from '#domain/gate/first-purchase-check.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import {
  applyFirstPurchaseCheck,
  FIRST_PURCHASE_CHECK_ACTOR,
  heldKinds,
  holdUntilSeen,
  releaseRecorded,
} from '#fulfilment/gate/pauses.ts';
import type { Logger } from '#telemetry/logger.ts';
import { lookAtService } from '#upstream/first-purchase-check.ts';
import type { FirstPurchaseCheckClient } from '#upstream/first-purchase-check/reads.ts';
import { RepeatedWork } from '#worker/repeated-work.ts';

interface FirstPurchaseCheckOptions {
  readonly database: Database;
  readonly service: FirstPurchaseCheckClient;
  readonly mode: ServiceMode;
  readonly capabilities: Capabilities;
  readonly policy: Pick<GatePolicy, 'firstPurchaseCheckMs'>;
  readonly deadlineMs: number;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Holds production purchases until free read calls have shown the shapes of the service's answers. */
export class FirstPurchaseCheckWatch extends RepeatedWork {
  readonly #options: FirstPurchaseCheckOptions;

  constructor(options: FirstPurchaseCheckOptions) {
    super(options.policy.firstPurchaseCheckMs);
    this.#options = options;
  }

  /** Await it before the worker polls for tasks. @throws DatabaseUnavailableError */
  async hold(): Promise<void> {
    const { database, mode, logger, now } = this.#options;
    if (mode === 'sandbox') return;
    const made = await database.transaction((tx) => holdUntilSeen(tx, new Date(now())));
    for (const { id, kind } of made) {
      logger.warn({ pause: id, kind }, "purchases are held until the shapes of the service's answers have been seen");
    }
  }

  /** @returns false when nothing is held any more. */
  async check(): Promise<boolean> {
    const { database, service, mode, capabilities, deadlineMs, logger, now } = this.#options;
    if (mode === 'sandbox') return false;
    const recorded = await database.transaction((tx) =>
      releaseRecorded(tx, FIRST_PURCHASE_CHECK_ACTOR, new Date(now())),
    );
    for (const kind of recorded)
      logger.info({ kind }, "purchases are no longer held: our records show the shapes of the service's answers");
    const kinds = await database.run(heldKinds);
    const { signal } = this;
    for (const [kind, sighting] of await lookAtService(service, { kinds, capabilities, deadlineMs, signal })) {
      const found = judgeFirstPurchaseCheck(kind, sighting);
      const at = new Date(now());
      const applied = await database.transaction((tx) =>
        applyFirstPurchaseCheck(tx, kind, found, FIRST_PURCHASE_CHECK_ACTOR, at),
      );
      if (applied === 'released')
        logger.info({ kind }, "purchases are no longer held: the shapes of the service's answers were seen");
      if (applied === 'reason_changed' && found.kind === 'unseen') logger.warn({ kind }, found.reason);
    }
    return (await database.run(heldKinds)).length > 0;
  }

  protected override async turn(): Promise<boolean> {
    try {
      return await this.check();
    } catch (error) {
      const text = "the shapes of the service's answers could not be checked; the worker tries again";
      this.#options.logger.warn({ err: error }, text);
      return true;
    }
  }
}
