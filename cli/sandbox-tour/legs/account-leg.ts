import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { clause } from '#cli/sandbox-tour/observations.ts';
import type { Money } from '#domain/money/money.ts';

/** Logs in, by reading the wallet. @returns the fictional balance; undefined when the service does not let us in. */
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
