import { EARLIER_MS, type WalletSeen } from '#cli/sandbox-tour/amounts.ts';
import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { clause } from '#cli/sandbox-tour/observations.ts';

/**
 * Reads the wallet, which logs in first.
 *
 * @param startedAt of the tour, in epoch milliseconds.
 * @returns the fictional balance and the movements since then; undefined when the balance could not be read.
 */
export async function readWallet(
  { client }: TourContext,
  notes: LegNotes,
  when: string,
  startedAt: number,
): Promise<WalletSeen | undefined> {
  const step = `the wallet, ${when}`;
  const wallet = await client.getWallet();
  if (!wallet.ok) {
    notes.failed(step, 'a login, and a balance', clause(wallet.detail));
    return undefined;
  }
  const { balance: amount, currency } = wallet.value;
  notes.ok(step, 'a login, and a balance', `${amount} ${currency}, fictional`);
  const listed = await client.listWalletTransactions({ since: startedAt - EARLIER_MS });
  return {
    balance: { amount, currency },
    movements: listed.ok && listed.value.complete ? listed.value.items : undefined,
  };
}
