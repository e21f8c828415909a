import { nearNames } from '#domain/text.ts';
import { attemptReference, MAX_REFERENCE_LENGTH } from '#domain/work/identifiers.ts';
import { PAGE_SIZE } from '#upstream/client/lists.ts';
import {
  type Comparison,
  type Place,
  WHOLE_BODY,
  compareTypes,
  fieldOf,
  formsIn,
  listed,
  ownForm,
  saysNothing,
  typesIn,
  undescribed,
  valuesIn,
} from '#upstream/contract-check/comparison.ts';
import type { Finding, Findings } from '#upstream/contract-check/findings.ts';
import { type Forms, type ResolvedSchema, eitherOf, refusalOf, takesType } from '#upstream/contract-check/schemas.ts';
import { IDEMPOTENCY_KEY_HEADER } from '#upstream/contract.ts';

/** The document must describe each field that we always send, require no other, and accept each value. */
export function compareRequest(comparison: Comparison, ours: unknown, theirs: unknown, place = WHOLE_BODY): void {
  const { findings } = comparison;
  const sent = ownForm(ours);
  const forms = formsIn(comparison, 'request', theirs, place);
  if (forms === undefined) return;
  if (forms.every(saysNothing) && sent.properties.size > 0) return undescribed(comparison, 'request', sent, place);

  if (!compareTypes(findings, 'request', place, sent.types, typesIn(forms))) return;
  const taken = valuesIn(forms);
  const refused = taken === undefined ? [] : (sent.values ?? []).filter((value) => !taken.includes(value));
  if (refused.length > 0) findings.breaking('request', place.path, `may not be ${listed(refused)}, which we send`);
  else {
    const isTyped = (value: unknown) => forms.some((form) => takesType(form, value));
    const refusal = (value: unknown) => (isTyped(value) ? refusalOf(forms, value) : undefined);
    compareSentValues(findings, 'request', place.path, place.name, refusal);
  }

  const objects = forms.filter(({ types }) => types?.has('object') === true);
  if (sent.properties.size > 0 && objects.length > 0) compareFields(comparison, sent, objects, place);
}

/** A refused usual value is breaking; a refused unusual value is a note. */
export function compareSentValues(
  findings: Findings,
  part: Finding['part'],
  label: string | undefined,
  name: string,
  refusal: (value: unknown) => string | undefined,
): void {
  const values = Object.hasOwn(SENT_VALUES, name) ? SENT_VALUES[name] : undefined;
  const firstRefused = (all: readonly unknown[] = []) =>
    all.map((value) => ({ value, reason: refusal(value) })).find(({ reason }) => reason !== undefined);
  const refused = firstRefused(values?.usual);
  if (refused !== undefined) {
    return findings.breaking(part, label, `${refused.reason}, and ours may be ${listed([refused.value])}`);
  }
  const exotic = firstRefused(values?.possible);
  if (exotic === undefined) return;
  findings.note(part, label, `${exotic.reason}; a caller may choose ${short(exotic.value)}, which is refused`);
}

function short(value: unknown): string {
  return typeof value === 'string' && value.length > 40 ? `one of ${value.length} characters` : listed([value]);
}

function compareFields(comparison: Comparison, sent: ResolvedSchema, objects: Forms, place: Place): void {
  const { findings } = comparison;
  if (objects.every(({ properties, closed }) => properties.size === 0 && !closed)) {
    return undescribed(comparison, 'request', sent, place);
  }
  const theirNames = new Set(objects.flatMap(({ properties }) => [...properties.keys()]));
  const strangers = [...theirNames].filter((name) => !sent.properties.has(name));
  for (const [name, schema] of sent.properties) {
    const inside = fieldOf(place, name);
    const having = objects.filter(({ properties }) => properties.has(name));
    if (having.length > 0) {
      compareRequest(comparison, schema, eitherOf(having.map(({ properties }) => properties.get(name))), inside);
      continue;
    }
    const near = nearNames(name, strangers);
    if (sent.required.has(name)) findings.breaking('request', inside.path, 'is missing', near);
    else findings.note('request', inside.path, 'is missing there; we send it in some requests', near);
  }
  const [first, ...others] = objects;
  for (const name of first?.required ?? []) {
    // A field that only one form requires is avoided by another form.
    if (others.some(({ required }) => !required.has(name))) continue;
    const inside = fieldOf(place, name).path;
    if (!sent.properties.has(name)) {
      findings.breaking('request', inside, 'is required there, and we do not send it');
    } else if (!sent.required.has(name)) {
      findings.breaking('request', inside, 'is required there, and we do not always send it');
    }
  }
}

interface SentValues {
  /** Work stops when the service refuses these. */
  readonly usual: readonly unknown[];
  /** The service refuses these before it buys. */
  readonly possible: readonly unknown[];
}

const UUID = '0b9f2c9e-5d1f-4c58-9f3b-6a1d2e7c4b10';
const LONGEST = 'R'.repeat(MAX_REFERENCE_LENGTH);

const REFERENCES: SentValues = {
  usual: ['ORD-1042', UUID, attemptReference('ORD-1042', 1, 2), attemptReference(UUID, 1, 2)],
  possible: ['7', 'shop/2026:#1042', attemptReference(LONGEST, 1, 10), attemptReference('ORD-1042', 2, 1)],
};

/** Ids are missing: they come from the service, so they always fit. */
const SENT_VALUES: Readonly<Record<string, SentValues>> = {
  [IDEMPOTENCY_KEY_HEADER]: { usual: [UUID], possible: [] },
  external_order_id: REFERENCES,
  external_subscription_id: REFERENCES,
  device_imei: { usual: ['356938035643809', '35693803564380', '3569380356438091'], possible: [] },
  customer_reference: { usual: ['C-2207', UUID], possible: ['Zoë, table 7', 'C'.repeat(255)] },
  customer_price: { usual: [9.99, 12.5, 20, 149], possible: [0, 0.001, 100_000] },
  email: { usual: ['reseller@example.com'], possible: [] },
  device_name: { usual: ['reseller-fulfilment'], possible: ['D'.repeat(255)] },
  expires_in_days: { usual: [], possible: [1, 30, 3650] },
  limit: { usual: [String(PAGE_SIZE)], possible: [] },
  since: { usual: ['2026-01-31T10:00:00.000Z'], possible: [] },
  current_version: { usual: ['1.4.0'], possible: ['2'] },
  channel: { usual: ['stable'], possible: [] },
};
