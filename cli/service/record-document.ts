/** `reseller contract check FILE --record`: what a document that was got by hand changes for held purchases. */
import { OwnToken } from '#cli/access/own-token.ts';
import { actor } from '#cli/api/account.ts';
import { readTogether } from '#cli/api/read-together.ts';
import { withProfileDatabase } from '#cli/service/capabilities-database.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readDatabaseConfig, readServiceConfig } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { FIRST_CONTACT_ADVICE, judgeFirstContact, nounOf } from '#domain/gate/first-contact.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { applyFirstContact, heldKinds, holdUntilSeen } from '#fulfilment/gate/first-contact.ts';
import type { JsonObject } from '#upstream/contract-check.ts';
import { lookAtService } from '#upstream/first-contact.ts';
import { openService } from '#upstream/service.ts';

// Device names have 255 characters at most. A device of its own: the token of the processes that run must not end here.
const MOST_OF_A_NAME = 200;

/** What became of the held purchases. */
export interface RecordedDocument {
  readonly lines: readonly string[];
  /** False when some kind is held still. */
  readonly nothingHeld: boolean;
}

/**
 * Looks at the service with the document, without spending anything, and releases the purchases that it shows to be
 * safe. Before the first start of a worker the pauses are put in place first, so that there is a record of their end.
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
      'SERVICE_MODE is sandbox, where nothing is held and there is nothing to record.',
      'Leave --record out.',
    );
  }
  const deadlineMs = DEFAULT_POLICY.purchase.sendDeadlineMs;
  return await withProfileDatabase({ database: where.database, service: config }, 'write', async (database) => {
    await database.transaction((tx) => holdUntilSeen(tx, new Date()));
    const kinds = await database.run(heldKinds);
    if (kinds.length === 0) return { lines: ['No purchases are held for the shapes of answers.'], nothingHeld: true };
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
        const found = judgeFirstContact(kind, sighting);
        await database.transaction((tx) => applyFirstContact(tx, kind, found, actor(), new Date()));
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

// The document was just recorded, so that advice is of no use here.
const ADVICE =
  'Run `npx reseller sandbox tour` against the sandbox and confirm its profile here; ' +
  'or release the pause with `npx reseller gate release` to buy all the same.';

/** The text of a pause without what ends it, which is the same for all kinds. */
function withoutAdvice(reason: string): string {
  return reason.replace(FIRST_CONTACT_ADVICE, '').trimEnd();
}
