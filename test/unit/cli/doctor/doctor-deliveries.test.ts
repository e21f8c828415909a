import { expect, it } from 'vitest';
import { checkDeliveries } from '#cli/doctor/checks/offer.ts';

it.each([
  [undefined, 'not_checked'],
  [[], 'ok'],
  [[{ text: 'One order goes first.', isDrift: false }], 'warning'],
  [
    [
      { text: 'One order goes first.', isDrift: false },
      { text: 'Buying orders is stopped.', isDrift: true },
    ],
    'failure',
  ],
])('deliveries with the stops %j are %s', (driftStops, status) => {
  const finding = checkDeliveries(driftStops && { driftStops });
  expect(finding.status).toBe(status);
  for (const { text } of driftStops ?? []) expect(finding.detail).toContain(text);
});
