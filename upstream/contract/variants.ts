/**
 * Other ways to write what the contract means: names of fields and query parameters, words of states, the unit of
 * amounts, the end of a list. A new name or word of the real service is entered here.
 */

/** Fields whose words are compared in lower case. */
const WORD_FIELDS = ['status', 'type', 'review', 'reason'] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** Fields that hold an amount whose currency stands beside it. */
export const AMOUNT_FIELDS = ['price_for_reseller', 'price', 'amount', 'balance'] as const;

/** What is read, or sent, as something else. */
export interface Variants {
  /**
   * Our field by the name that the service gives it, in all records. It is used where our own name is absent; an object
   * that has two names for one field has no readable value for it.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** Our word by the service's, per field of ours. Words are compared in lower case. */
  readonly words: Readonly<Partial<Record<WordField, Readonly<Record<string, string>>>>>;
  /** The service's name of a query parameter by ours, such as `external_order_id` or `cursor`. */
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * The unit of amounts. `unstated`: decimals, but a price list in which every price is a whole number is refused,
   * since it may be in cents. `decimal`: decimals, whole numbers too. `minor_units`: whole numbers of the currency's
   * smallest unit; any other amount is not read.
   */
  readonly amounts: 'unstated' | 'decimal' | 'minor_units';
  /**
   * What ends a list. `stated`: only what the service says of its pages. `assumed`: also a page that says nothing of
   * them; to be set only when the service has confirmed that, since such a list then proves that something was not
   * bought.
   */
  readonly listEnd: 'stated' | 'assumed';
}

export const VARIANTS: Variants = {
  fields: { state: 'status' },
  words: { status: { canceled: 'cancelled' } },
  parameters: {},
  amounts: 'unstated',
  listEnd: 'stated',
};

type Fields = Record<string, unknown>;

/** @returns the value with our names, our words, and amounts as decimals beside their currency. Nothing is guessed. */
export function inOurTerms(value: unknown, variants: Variants): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inOurTerms(item, variants));
  if (typeof value !== 'object' || value === null) return value;
  const fields: Fields = Object.create(null) as Fields;
  for (const [name, field] of Object.entries(value))
    fields[ourName(name, value, variants)] = inOurTerms(field, variants);
  for (const name of WORD_FIELDS) translateValue(fields, name, variants);
  for (const name of AMOUNT_FIELDS) flattenAmount(fields, name);
  if (variants.amounts === 'minor_units') for (const name of AMOUNT_FIELDS) toDecimal(fields, name);
  return { ...fields };
}

/** The name under which a field of an object is read. */
export function ourName(name: string, object: object, { fields }: Variants): string {
  const ours = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (ours === undefined || Object.hasOwn(object, ours)) return name;
  const names = Object.keys(object).filter((each) => Object.hasOwn(fields, each) && fields[each] === ours);
  return names.length === 1 ? ours : name;
}

function translateValue(fields: Fields, name: WordField, variants: Variants): void {
  const word = fields[name];
  if (typeof word === 'string') fields[name] = ownValue(name, word, variants);
}

/** @returns our word for the service's word of a field; the same in lower case where we have no other. */
export function ownValue(field: WordField, word: string, { words }: Variants): string {
  const plain = word.trim().toLowerCase();
  return Object.entries(words[field] ?? {}).find(([theirs]) => theirs.toLowerCase() === plain)?.[1] ?? plain;
}

/**
 * `{"amount": …, "currency": …}` in the place of an amount. With another currency than the record it stays as it is.
 */
function flattenAmount(fields: Fields, name: string): void {
  const money = fields[name];
  if (typeof money !== 'object' || money === null || Array.isArray(money)) return;
  const { amount, value = amount, currency } = money as { amount?: unknown; value?: unknown; currency?: unknown };
  const isOneAmount = value !== undefined && (amount === undefined || amount === value);
  // A further number, such as an exponent, may say what the amount means.
  const isPlain = Object.entries(money).every(([key, each]) => MONEY_KEYS.has(key) || typeof each === 'string');
  if (!isOneAmount || !isPlain || typeof currency !== 'string') return;
  const beside = fields['currency'];
  if (typeof beside === 'string' && beside.toUpperCase() !== currency.toUpperCase()) return;
  // The currency is that of this amount, and not of another one of the record.
  const isAlone = AMOUNT_FIELDS.every((each) => each === name || fields[each] === undefined || fields[each] === null);
  if (typeof beside !== 'string' && !isAlone) return;
  fields[name] = value;
  fields['currency'] = currency;
}

const MONEY_KEYS: ReadonlySet<string> = new Set(['amount', 'value', 'currency']);

function toDecimal(fields: Fields, name: string): void {
  const { [name]: units, currency } = fields;
  if (units === undefined || units === null) return;
  if (!isWhole(units) || typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) {
    // A decimal contradicts the unit, and without a currency there is no smallest unit.
    Reflect.deleteProperty(fields, name);
    return;
  }
  const digits = fractionDigits(currency.toUpperCase());
  const plain = String(units).trim();
  const sign = plain.startsWith('-') ? '-' : '';
  const text = plain.replace('-', '').padStart(digits + 1, '0');
  fields[name] = digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * Currencies whose minor unit is not a hundredth, by the digits that ISO 4217 gives it; `Intl` follows usage instead.
 */
const DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

function fractionDigits(currency: string): number {
  const found = Object.entries(DIGITS).find(([, codes]) => codes.split(' ').includes(currency));
  return found === undefined ? 2 : Number(found[0]);
}

function isWhole(amount: unknown): amount is number | string {
  return Number.isSafeInteger(amount) || (typeof amount === 'string' && /^-?\d{1,15}$/.test(amount.trim()));
}

/** The service's name of a query parameter of ours. */
export function serviceParameter(name: string, { parameters }: Variants): string {
  return Object.hasOwn(parameters, name) ? (parameters[name] ?? name) : name;
}

/** Prices of a list by how they are written. */
export interface PriceForms {
  /** Without a decimal point. */
  readonly whole: number;
  /** With one. What is no price at all says nothing of the unit. */
  readonly decimal: number;
}

function plainText(price: unknown): string {
  return typeof price === 'string' || typeof price === 'number' ? String(price).trim() : '';
}

/** @param items as {@link inOurTerms} gives them. */
export function priceForms(items: readonly unknown[]): PriceForms {
  const prices = items
    .map((item) => (typeof item === 'object' && item !== null ? (item as Fields)['price_for_reseller'] : undefined))
    .filter((price) => price !== undefined && price !== null);
  const decimal = prices.filter((price) => /^-?\d+\.\d+$/.test(plainText(price))).length;
  return { whole: prices.filter(isWhole).length, decimal };
}

/** Tells whether the unit of a price list cannot be known: every price is a whole number, so that 320 may be 3.20. */
export function isAmbiguous({ whole, decimal }: PriceForms, { amounts }: Variants = VARIANTS): boolean {
  return amounts === 'unstated' && whole > 0 && decimal === 0;
}
