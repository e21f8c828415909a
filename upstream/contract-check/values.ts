import { parseLpaString } from '#domain/esims/activation.ts';
import { nearNames } from '#domain/text.ts';
import { type Comparison, type Place, listed, ownForm, valuesIn } from '#upstream/contract-check/comparison.ts';
import { VALUES_NOT_LISTED } from '#upstream/contract-check/findings.ts';
import { valueInOurTerms } from '#upstream/contract-check/layers.ts';
import { type Forms, formsOf, refusalOf } from '#upstream/contract-check/schemas.ts';
import { wireCurrency, wireDecimal, wireTime } from '#upstream/contract/fields.ts';
import { AMOUNT_FIELDS, isAmount, termsOf } from '#upstream/contract/variants.ts';

export function compareValues(comparison: Comparison, ours: unknown, forms: Forms, place: Place): void {
  const { findings, record } = comparison;
  const own = formsOf({}, ours);
  const report = findings[place.severity];
  const isUnknown = (value: unknown): boolean => refusalOf(own, value) !== undefined;
  const unknown = (valuesIn(forms) ?? []).filter(
    (value) => isUnknown(value) && isUnknown(valueInOurTerms(record, place.name, value)),
  );
  if (unknown.length > 0) report('answer', place.path, `may be ${listed(unknown)}, which we do not know`);
  else if (isAmount(place.name) && termsOf(record).amounts === 'unstated' && isWhole(forms)) {
    // Also for an optional field: if present, it is read, and perhaps a hundred times too high.
    const message = 'is a whole number there, of cents perhaps. Set `amounts` in upstream/contract/variants.ts';
    findings.breaking('answer', place.path, message);
  } else {
    const unread = unreadableValue(place.name, own, forms);
    if (unread !== undefined) {
      const form = unread.example === undefined ? 'no form that we know fits' : `it may be ${listed([unread.example])}`;
      report('answer', place.path, `${unread.says}: ${form}, which we do not read`);
    }
  }
  reportMissingValues(comparison, ours, forms, place);
}

/** Reads only: an answer to a purchase, or an event, may be limited to one state. */
function reportMissingValues(comparison: Comparison, ours: unknown, forms: Forms, place: Place): void {
  const { findings, source, record } = comparison;
  const values = valuesIn(forms);
  if (place.severity === 'note') return;
  if (values === undefined && ownForm(ours).values !== undefined) {
    return findings.note('answer', place.path, VALUES_NOT_LISTED);
  }
  if (values === undefined || !source.isWhole) return;
  const known = new Set(values.map((value) => valueInOurTerms(record, place.name, value)));
  // The service defines the values of a status: an eSIM is cancelled or not.
  const needed = ownForm(ours).values ?? (place.name === 'status' ? ['cancelled'] : []);
  const never = needed.filter((value) => !known.has(value));
  const near = never.flatMap((word) => nearNames(String(word), values.map(String)));
  if (never.length === 0) return;
  findings.note('answer', place.path, `cannot be ${listed(never)} by the document`, [...new Set(near)]);
}

function isWhole(forms: Forms): boolean {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  return relevant.every(({ types, constraints }) => {
    const kinds = [...(types ?? [])].filter((type) => type !== 'null');
    if (kinds.length === 0) return false;
    const isStepped = constraints.some(({ multipleOf = 0 }) => multipleOf > 0 && multipleOf % 1 === 0);
    return kinds.every((type) => type === 'integer' || (type === 'number' && isStepped));
  });
}

const KINDS: readonly {
  readonly names: RegExp;
  readonly values: readonly string[];
  /** False: the values are some of many. */
  readonly isClosed: boolean;
  readonly isUsable?: (text: string) => boolean;
}[] = [
  {
    names: /^iccid$/,
    values: [
      '8944500102198304826',
      '89445001021983048266',
      '8944500102198304826F',
      '8944 5001 0219 8304 826',
      '894450010219',
    ],
    isClosed: true,
  },
  {
    names: /^activation_code$/,
    values: [
      'LPA:1$rsp.example.com$K2-9F3A-77D1',
      '1$rsp.example.com$K2-9F3A-77D1',
      'https://rsp.example.com/install/K29F3A77D1',
      'K2-9F3A-77D1',
      'K29F3A77D1',
      'data:image/png;base64,iVBORw0KGgo=',
      'iVBORw0KGgo=',
    ],
    isClosed: true,
    isUsable: (text) => parseLpaString(text) !== undefined,
  },
  {
    names: /^currency$/,
    values: ['USD', 'EUR', 'usd', 'eur', '840', '978', '$', 'US Dollar'],
    isClosed: true,
    isUsable: (text) => wireCurrency.safeParse(text).success,
  },
  {
    names: new RegExp(`^(?:${AMOUNT_FIELDS.join('|')})$`),
    values: ['12.50', '0.99', '12.5', '12,50', '$12.50', 'USD 12.50', '12.50 USD', '12.50 EUR'],
    isClosed: true,
    isUsable: (text) => wireDecimal.safeParse(text).success,
  },
  {
    names: /_at$/,
    values: [
      '2026-01-31T10:00:00Z',
      '2026-01-31T10:00:00.123456Z',
      '2026-01-31T10:00:00+02:00',
      '2026-01-31T10:00:00',
      '2026-01-31 10:00:00',
      '2026-01-31',
      '20260131',
      '31.01.2026',
      '31.01.2026 10:00:00',
      '31/01/2026',
      '01/31/2026',
      '31-01-2026',
      '10:00:00',
      '1767225600',
    ],
    isClosed: true,
    isUsable: (text) => wireTime.safeParse(text).success,
  },
  {
    names: /^id$|^(?!external_).*_id$/,
    values: [
      '7',
      'esim_01J9ZK3V7Q',
      'ORD-1042',
      '0b9f2c9e-5d1f-4c58-9f3b-6a1d2e7c4b10',
      'a1b2c3d4e5f6a7b8',
      'esim 12 34',
      'ESIM 7',
      ...['0', '7', 'a', 'A', 'f'].flatMap((letter) => [129, 160, 200, 256].map((length) => letter.repeat(length))),
    ],
    isClosed: false,
  },
];

// A description that accepts one of these says little.
const NONSENSE = ['nonsense-Äß 0', 'nonsense', 'Xq'];

/** @returns undefined when we can read the texts, or the document says too little. */
function unreadableValue(name: string, ours: Forms, theirs: Forms) {
  const kind = KINDS.find(({ names }) => names.test(name));
  const texts = theirs.filter(({ types }) => types === undefined || types.has('string'));
  const isOpen = texts.every(({ constraints, values }) => constraints.length === 0 || values !== undefined);
  if (kind === undefined || isOpen) return undefined;

  const isAllowed = (text: string): boolean => refusalOf(texts, text) === undefined;
  const isRead = (text: string): boolean => refusalOf(ours, text) === undefined && (kind.isUsable?.(text) ?? true);
  const allowed = kind.values.filter(isAllowed);
  const example = allowed.find((text) => !isRead(text));
  const says = kind.values.map((text) => refusalOf(texts, text)).find((reason) => reason !== undefined) ?? '';
  if (!allowed.some(isRead)) return kind.isClosed || example !== undefined ? { example, says } : undefined;
  const isVague = NONSENSE.some(isAllowed);
  return !kind.isClosed || isVague || example === undefined ? undefined : { example, says };
}
