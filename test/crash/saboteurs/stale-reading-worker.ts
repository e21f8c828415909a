/** A worker with a defect: a reading of the wallet from before the purchase proves that it cost nothing. */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

// The present rule would refuse such a reading for other reasons.
replaceModule('#domain/money/absence.ts', new URL('old-absence.ts', import.meta.url));
const { WalletReadings } = await import('#fulfilment/purchase/wallet-readings.ts');

const { prototype } = WalletReadings;
const { since } = Object.getOwnPropertyDescriptors(prototype);
prototype.since = async function atAnyTime({ backTo }) {
  const reading = await since.value?.call(this, { beganAt: new Date(0), after: 0, backTo });
  if (reading === undefined) throw new Error('WalletReadings has no method since');
  return reading;
};
await import('#test/crash/processes/worker.ts');
