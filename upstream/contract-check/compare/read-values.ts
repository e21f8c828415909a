/**
 * Example values that services of this kind send. They show whether the described form of a field fits our reader. Each
 * is tested against the document and against our reader, so a form that the contract learns to read is no longer a
 * finding.
 */
import { parseLpaString } from '#domain/esims/activation.ts';
import { refusalOf, type ResolvedSchema } from '#upstream/contract-check/schema/resolved-schema.ts';
import { wireCurrency, wireDecimal, wireTime } from '#upstream/contract/fields.ts';
import { AMOUNT_FIELDS } from '#upstream/contract/variants.ts';

interface ValueKind {
  readonly names: RegExp;
  readonly values: readonly string[];
  /** True when `values` lists all known forms. Ids have no such list. */
  readonly isClosed: boolean;
  /** A further test of a value after it was read. */
  readonly isUsable?: (text: string) => boolean;
}

const KINDS: readonly ValueKind[] = [
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

// A description that accepts one of these says little about the value.
const NONSENSE = ['nonsense-Äß 0', 'nonsense', 'Xq'];

/** A description of a field that our reader cannot read. */
export interface Unreadable {
  /** A value that the document allows and we cannot read; undefined when it allows no known value. */
  readonly example: string | undefined;
  /** The description, as a clause after the name of the field. */
  readonly says: string;
}

/**
 * Tests whether our reader can read the texts that the document allows in a field.
 *
 * @param theirs forms of the field in the document.
 * @returns undefined when we can read them, or the document says too little to decide.
 */
export function unreadableValue(
  name: string,
  ours: readonly ResolvedSchema[],
  theirs: readonly ResolvedSchema[],
): Unreadable | undefined {
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

/** True for the fields that contain an amount with a currency field beside it. */
export function isAmount(name: string): boolean {
  return (AMOUNT_FIELDS as readonly string[]).includes(name);
}
