import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { clause } from '#cli/sandbox-tour/observations.ts';
import type { Money } from '#domain/money/money.ts';

/** Reads the wallet, which logs in first. @returns the fictional balance; undefined when the read failed. */
export async function readBalance({ client }: TourContext, notes: LegNotes, when: string): Promise<Money | undefined> {
  const step = `the wallet, ${when}`;
  const wallet = await client.getWallet();
  if (!wallet.ok) {
    notes.failed(step, 'a login, and a balance', clause(wallet.detail));
    return undefined;
  }
  const { balance, currency } = wallet.value;
  notes.ok(step, 'a login, and a balance', `${balance} ${currency}, fictional`);
  return { amount: balance, currency };
}
