/** `reseller contract check FILE --record`: releases held purchases by a document from a file. */
import { OwnToken } from '#cli/access/own-token.ts';
import { withProfileDatabase } from '#cli/service/capabilities-database.ts';
import { actor } from '#cli/set-up/command-database.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readDatabaseConfig, readServiceConfig } from '#config/config.ts';
import { readTogether, type Environment } from '#config/environment.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, judgeFirstPurchaseCheck, nounOf } from '#domain/gate/first-purchase-check.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { applyFirstPurchaseCheck, heldKinds, holdUntilSeen } from '#fulfilment/gate/pauses.ts';
import type { JsonObject } from '#upstream/contract-check.ts';
import { lookAtService } from '#upstream/first-purchase-check.ts';
import { openService } from '#upstream/service.ts';

// Device names have 255 characters at most. A service may keep one token for each device, and this command must not end
// the token of running processes.
const MOST_OF_A_NAME = 200;

/** Result for the held purchases. */
export interface RecordedDocument {
  readonly lines: readonly string[];
  /** False when a kind of purchase is still held. */
  readonly nothingHeld: boolean;
}

/**
 * Checks the document and free read calls of the service, and releases the purchases that they prove safe. Spends
 * nothing. Before the first start of a worker it creates the pauses first, so that their release is recorded.
 *
 * @throws UserError in the sandbox, where nothing is held.
 * @throws ConfigurationError, SchemaNotCurrentError, DatabaseUnavailableError, OtherInstallationError
 */
export async function recordDocument(document: JsonObject, environment: Environment): Promise<RecordedDocument> {
  const { service: config, database: where } = readTogether(environment, {
    database: readDatabaseConfig,
    service: readServiceConfig,
  });
  if (config.mode === 'sandbox') {
    throw new UserError(
      'SERVICE_MODE is sandbox, where no purchase is held for this check.',
      'Run the command without --record.',
    );
  }
  const deadlineMs = DEFAULT_POLICY.purchase.sendDeadlineMs;
  return await withProfileDatabase({ database: where.database, service: config }, 'write', async (database) => {
    await database.transaction((tx) => holdUntilSeen(tx, new Date()));
    const kinds = await database.run(heldKinds);
    if (kinds.length === 0) return { lines: ['No purchases are held for this check.'], nothingHeld: true };
    const service = openService({
      ...config,
      deviceName: `${config.deviceName.slice(0, MOST_OF_A_NAME)}-contract`,
      deadlineMs,
      tokens: new OwnToken(),
      now: Date.now,
    });
    try {
      const { capabilities } = config;
      const lines: string[] = [];
      for (const [kind, sighting] of await lookAtService(service.client, {
        kinds,
        capabilities,
        deadlineMs,
        document,
      })) {
        const found = judgeFirstPurchaseCheck(kind, sighting);
        await database.transaction((tx) => applyFirstPurchaseCheck(tx, kind, found, actor(), new Date()));
        const text = found.kind === 'seen' ? `released. ${found.evidence}` : `held. ${withoutAdvice(found.reason)}`;
        lines.push(`${nounOf(kind)}: ${text}`);
      }
      const nothingHeld = (await database.run(heldKinds)).length === 0;
      return { lines: nothingHeld ? lines : [...lines, ADVICE], nothingHeld };
    } finally {
      await service.close();
    }
  });
}

// Replaces FIRST_PURCHASE_CHECK_ADVICE, which tells the operator to record a document.
const ADVICE =
  'Run `npx reseller sandbox tour` against the sandbox and confirm its profile here; ' +
  'or release the pause with `npx reseller gate release` to buy without the check.';

/** Removes the advice from the reason of a pause. */
function withoutAdvice(reason: string): string {
  return reason.replace(FIRST_PURCHASE_CHECK_ADVICE, '').trimEnd();
}
