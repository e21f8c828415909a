import { eq, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { readingOf, type WalletReading } from '#db/gate/wallet.ts';
import { apiKeys, gateWallet } from '#db/schema.ts';
import { workTable, type WorkRow, WorkMissingError } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { gateIsClear } from '#fulfilment/gate/admission.ts';

/** What is known before a send is examined; all of it is read again when the send is claimed. */
export interface SendConditions {
  readonly row: WorkRow;
  /** No pause is in force, no circuit is open, and this work is not held. */
  readonly isGateClear: boolean;
  /** The daily limit of its API key. */
  readonly keyLimit: Money | undefined;
  /** The last reading of the wallet. */
  readonly reading: WalletReading | undefined;
}

/** Reads the conditions of a send in one statement. @throws WorkMissingError */
export async function readSendConditions(db: Executor, work: WorkRef): Promise<SendConditions> {
  const table = workTable(work.kind);
  const [read] = await db
    .select({
      row: table,
      isGateClear: gateIsClear(work),
      key: { spendLimitAmount: apiKeys.spendLimitAmount, spendLimitCurrency: apiKeys.spendLimitCurrency },
      wallet: gateWallet,
    })
    .from(table)
    .leftJoin(apiKeys, eq(apiKeys.id, table.apiKeyId))
    // One row, once the wallet was read.
    .leftJoin(gateWallet, sql`true`)
    .where(eq(table.id, work.id));
  if (read === undefined) throw new WorkMissingError(work);
  const { row, isGateClear, key, wallet } = read;
  return { row, isGateClear, keyLimit: key === null ? undefined : spendLimitOf(key), reading: readingOf(wallet) };
}
