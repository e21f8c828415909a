/** All removals, in the order of the statements. */
import { AUTHENTICATION } from '#scripts/spec/removals/authentication.ts';
import { CALLS } from '#scripts/spec/removals/calls.ts';
import { ENVIRONMENTS } from '#scripts/spec/removals/environments.ts';
import { EVENTS } from '#scripts/spec/removals/events.ts';
import { FIELDS } from '#scripts/spec/removals/fields.ts';
import { GAPS } from '#scripts/spec/removals/gaps.ts';
import { RECORDS } from '#scripts/spec/removals/records.ts';
import { REFUNDS } from '#scripts/spec/removals/refunds.ts';
import type { Removal } from '#scripts/spec/removals/removal.ts';
import { SIGNATURES } from '#scripts/spec/removals/signatures.ts';
import { STATES } from '#scripts/spec/removals/states.ts';

export const REMOVALS: readonly Removal[] = [
  ...ENVIRONMENTS,
  ...AUTHENTICATION,
  ...CALLS,
  ...FIELDS,
  ...RECORDS,
  ...STATES,
  ...REFUNDS,
  ...EVENTS,
  ...SIGNATURES,
  ...GAPS,
];
