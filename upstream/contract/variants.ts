/**
 * Other forms of the terms of the contract: names of fields and query parameters, values of states, the unit of
 * amounts. Enter new names and values of the real service here.
 */

/** Fields whose values are compared in lower case. */
const VALUE_FIELDS = ['status', 'type', 'review', 'reason'] as const;
export type ValueField = (typeof VALUE_FIELDS)[number];

/** Fields that contain an amount with a currency field beside it. */
export const AMOUNT_FIELDS = ['price_for_reseller', 'price', 'amount', 'balance'] as const;

/** The translations between the service's terms and ours. */
export interface Variants {
  /**
   * Our field name by the service's, for all records. Used when our own name is absent. If an object has two names for
   * one field, the field is unreadable.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** Our value by the service's, for each of our fields. Values are compared in lower case. */
  readonly values: Readonly<Partial<Record<ValueField, Readonly<Record<string, string>>>>>;
  /**
   * The service's name of a query parameter by our name, such as `external_order_id` or `cursor`; null for a parameter
   * that is never sent, because the service refuses or misreads it. A list is then read without this filter, limit or
   * time, and the product takes its own items from it.
   */
  readonly parameters: Readonly<Record<string, string | null>>;
  /**
   * The unit of amounts. `unstated`: decimals, but a price list with whole numbers only is refused, because it may be
   * in cents. `decimal`: decimals, whole numbers included. `minor_units`: whole numbers of the currency's smallest
   * unit; any other amount is unreadable.
   */
  readonly amounts: 'unstated' | 'decimal' | 'minor_units';
}

export const VARIANTS: Variants = {
  fields: { state: 'status', credentials: 'access', license_key: 'licence_key', config: 'configuration' },
  values: { status: { canceled: 'cancelled' } },
  parameters: {},
  amounts: 'unstated',
};

type Fields = Record<string, unknown>;

/**
 * @returns the value with our names, our values, null for an id that means "none", and amounts as decimals beside their
 *   currency. Ambiguous values stay unchanged.
 */
export function inOurTerms(value: unknown, variants: Variants): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inOurTerms(item, variants));
  if (typeof value !== 'object' || value === null) return value;
  const fields: Fields = Object.create(null) as Fields;
  for (const [name, field] of Object.entries(value))
    fields[ourName(name, value, variants)] = inOurTerms(field, variants);
  for (const [name, field] of Object.entries(fields)) if (isNoId(name, field)) fields[name] = null;
  for (const name of VALUE_FIELDS) translateValue(fields, name, variants);
  if (typeof fields['access'] === 'string') fields['access'] = { licence_key: fields['access'] };
  const converted = new Set<string>(AMOUNT_FIELDS.filter((name) => flattenAmount(fields, name)));
  if (variants.amounts === 'minor_units')
    for (const name of AMOUNT_FIELDS) if (!converted.has(name)) toDecimal(fields, name);
  return fields;
}

/**
 * True for an id of another record that is empty or zero: some services write this for "none". A reference of ours is
 * text that a caller chose, so it may be `0`.
 */
function isNoId(name: string, value: unknown): boolean {
  if (!name.endsWith('_id') || (typeof value !== 'string' && typeof value !== 'number')) return false;
  const text = String(value).trim();
  return text === '' || (!name.startsWith('external_') && ZERO_ID.test(text));
}

/** Zero, also in several digits, and the UUID of zeros. */
export const ZERO_ID = /^0[0-]*$/;

/** The name under which a field of an object is read. */
export function ourName(name: string, object: object, { fields }: Variants): string {
  const ours = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (ours === undefined || Object.hasOwn(object, ours)) return name;
  const names = Object.keys(object).filter((each) => Object.hasOwn(fields, each) && fields[each] === ours);
  return names.length === 1 ? ours : name;
}

function translateValue(fields: Fields, name: ValueField, variants: Variants): void {
  const value = fields[name];
  if (typeof value === 'string') fields[name] = ownValue(name, value, variants);
}

/** @returns our name for a value of the service; the same value in lower case when we have no other name. */
export function ownValue(field: ValueField, value: string, { values }: Variants): string {
  const plain = value.trim().toLowerCase();
  return Object.entries(values[field] ?? {}).find(([theirs]) => theirs.toLowerCase() === plain)?.[1] ?? plain;
}

/**
 * Replaces a field of the form `{"amount": …, "currency": …}` by the amount. If its currency differs from that of the
 * record, it stays unchanged.
 *
 * @returns true when the amount was a field `amount`, which has been converted with its object.
 */
function flattenAmount(fields: Fields, name: string): boolean {
  const money = fields[name];
  if (typeof money !== 'object' || money === null || Array.isArray(money)) return false;
  const { amount, value = amount, currency } = money as { amount?: unknown; value?: unknown; currency?: unknown };
  const isOneAmount = value !== undefined && (amount === undefined || amount === value);
  // Another number, such as an exponent, may change the meaning of the amount.
  const isPlain = Object.entries(money).every(([key, each]) => MONEY_KEYS.has(key) || typeof each === 'string');
  if (!isOneAmount || !isPlain || typeof currency !== 'string') return false;
  const beside = fields['currency'];
  if (typeof beside === 'string' && beside.toUpperCase() !== currency.toUpperCase()) return false;
  // The currency belongs to this amount, so the record must have no other amount.
  const isAlone = AMOUNT_FIELDS.every((each) => each === name || fields[each] === undefined || fields[each] === null);
  if (typeof beside !== 'string' && !isAlone) return false;
  fields[name] = value;
  fields['currency'] = currency;
  return amount !== undefined;
}

const MONEY_KEYS: ReadonlySet<string> = new Set(['amount', 'value', 'currency']);

function toDecimal(fields: Fields, name: string): void {
  const { [name]: units, currency } = fields;
  if (units === undefined || units === null) return;
  if (!isWhole(units) || typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) {
    // A decimal contradicts the unit, and without a currency the smallest unit is unknown.
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
 * Currencies whose minor unit is not a hundredth, by their number of decimals in ISO 4217. `Intl` follows usage
 * instead.
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

/** The service's name of one of our query parameters; null when it is not sent. */
export function serviceParameter(name: string, { parameters }: Variants): string | null {
  const theirs = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return theirs === undefined ? name : theirs;
}

/** Counts of the prices of a list, by form. */
export interface PriceForms {
  /** Without a decimal point. */
  readonly whole: number;
  /** With a decimal point. Values that are no price are not counted. */
  readonly decimal: number;
}

function plainText(price: unknown): string {
  return typeof price === 'string' || typeof price === 'number' ? String(price).trim() : '';
}

/** Counts the forms of prices. @param items as {@link inOurTerms} returns them. */
export function priceForms(items: readonly unknown[]): PriceForms {
  const prices = items
    .map((item) => (typeof item === 'object' && item !== null ? (item as Fields)['price_for_reseller'] : undefined))
    .filter((price) => price !== undefined && price !== null);
  const decimal = prices.filter((price) => /^-?\d+\.\d+$/.test(plainText(price))).length;
  return { whole: prices.filter(isWhole).length, decimal };
}

/** True when the unit of a price list is unknown: every price is a whole number, so 320 may mean 3.20. */
export function isAmbiguous({ whole, decimal }: PriceForms, { amounts }: Variants = VARIANTS): boolean {
  return amounts === 'unstated' && whole > 0 && decimal === 0;
}
