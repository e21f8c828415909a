/** Enter the terms of the real service here. Terms of one record add to those of all. */

/** With the names under which an answer may wrap each record. */
const RECORDS = {
  access: ['token'],
  cancellation: ['cancellation', 'esim'],
  document: [],
  esim: ['esim'],
  order: ['order'],
  package: ['package'],
  plan: ['plan', 'vpn_plan'],
  refund: ['refund'],
  secret: ['secret', 'webhook_secret'],
  subscription: ['subscription', 'vpn_subscription'],
  topup: ['topup', 'top_up'],
  transaction: ['transaction', 'wallet_transaction'],
  update: ['update'],
  usage: ['usage'],
  wallet: ['wallet'],
} as const satisfies Record<string, readonly string[]>;
export type RecordName = keyof typeof RECORDS;

const VALUE_FIELDS = ['status', 'type', 'review', 'reason'] as const;

export const AMOUNT_FIELDS = ['price_for_reseller', 'price', 'amount', 'balance'] as const;

/**
 * `unstated`: decimals, but a price list of whole numbers only is refused, because it may be in cents. `decimal`:
 * decimals, whole numbers included. `minor_units`: the currency's smallest unit. A number: the divisor of whole
 * numbers, a power of ten (10000 where 32000 means 3.20). An amount that contradicts its unit is unreadable.
 */
type AmountUnit = 'unstated' | 'decimal' | 'minor_units' | number;

export interface RecordTerms {
  /** Our name by the service's, used when ours is absent. Two names for one field make it unreadable. */
  readonly fields: Readonly<Record<string, string>>;
  /** Our value by the service's, in lower case. */
  readonly values: Readonly<Partial<Record<(typeof VALUE_FIELDS)[number], Readonly<Record<string, string>>>>>;
  readonly amounts: AmountUnit;
}

export interface Variants extends RecordTerms {
  readonly records: Readonly<Partial<Record<RecordName, Partial<RecordTerms>>>>;
  /**
   * The service's name of a query parameter by ours; null for one that is never sent, because the service refuses or
   * misreads it. The product then filters by itself.
   */
  readonly parameters: Readonly<Record<string, string | null>>;
  readonly wrappers: readonly string[];
  readonly lists: readonly string[];
}

export const VARIANTS: Variants = {
  fields: { state: 'status', credentials: 'access', license_key: 'licence_key', config: 'configuration' },
  values: { status: { canceled: 'cancelled' } },
  amounts: 'unstated',
  records: {},
  parameters: {},
  wrappers: ['data', 'result', 'payload'],
  lists: ['items', 'results', 'records'],
};

export function termsOf(record: RecordName, variants: Variants = VARIANTS): RecordTerms {
  const { fields, values, amounts } = variants;
  const own = variants.records[record];
  if (own === undefined) return { fields, values, amounts };
  const named = VALUE_FIELDS.map((field) => [field, { ...values[field], ...own.values?.[field] }]);
  return {
    fields: { ...fields, ...own.fields },
    values: Object.fromEntries(named) as RecordTerms['values'],
    amounts: own.amounts ?? amounts,
  };
}

/** The divisor of whole amounts; minor units count as cents. */
export function statedUnit(record: string): number | undefined {
  const { amounts: unit } = termsOf(record as RecordName);
  if (unit === 'minor_units') return 100;
  return typeof unit === 'number' ? unit : undefined;
}

export function wrappersOf(record: RecordName): readonly string[] {
  return [...VARIANTS.wrappers, ...RECORDS[record]];
}

export function listWrappersOf(record: RecordName): readonly string[] {
  return [...VARIANTS.wrappers, ...VARIANTS.lists, ...RECORDS[record].map((name) => `${name}s`)];
}

export const MOST_WRAPPERS = 3;

export function recordIn(record: RecordName, field: string): RecordName {
  return record === 'cancellation' && field === 'refund' ? 'refund' : record;
}

type Fields = Record<string, unknown>;

/** An id that means "none" becomes null. Ambiguous values stay unchanged. */
export function inOurTerms(value: unknown, record: RecordName, variants: Variants = VARIANTS): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inOurTerms(item, record, variants));
  if (typeof value !== 'object' || value === null) return value;
  const terms = termsOf(record, variants);
  const fields = inOurNames(value, terms, (field, name) =>
    // `amount` in an amount is no field of the record.
    isAmount(name) ? inAmountNames(field, variants) : inOurTerms(field, recordIn(record, name), variants),
  );
  for (const [name, field] of Object.entries(fields)) if (isNoId(name, field)) fields[name] = null;
  for (const name of VALUE_FIELDS) {
    const field = fields[name];
    if (typeof field === 'string') fields[name] = ownValue(name, field, terms);
  }
  if (typeof fields['access'] === 'string') fields['access'] = { licence_key: fields['access'] };
  for (const name of AMOUNT_FIELDS) readAmount(fields, name, terms.amounts);
  return fields;
}

export function inOurNames(
  object: object,
  terms: Pick<RecordTerms, 'fields'>,
  read: (field: unknown, name: string) => unknown = (field) => field,
): Fields {
  const fields = Object.create(null) as Fields;
  for (const [theirs, field] of Object.entries(object)) {
    const name = ourName(theirs, object, terms);
    fields[name] = read(field, name);
  }
  return fields;
}

function inAmountNames(value: unknown, variants: Variants): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? inOurNames(value, variants) : value;
}

/** Some services write an empty id or zero for "none". A reference of ours is a caller's text, so it may be `0`. */
function isNoId(name: string, value: unknown): boolean {
  if (!name.endsWith('_id') || (typeof value !== 'string' && typeof value !== 'number')) return false;
  const text = String(value).trim();
  return text === '' || (!name.startsWith('external_') && ZERO_ID.test(text));
}

export const ZERO_ID = /^0[0-]*$/;

export function ourName(name: string, object: object, { fields }: Pick<RecordTerms, 'fields'>): string {
  const ours = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (ours === undefined || Object.hasOwn(object, ours)) return name;
  const names = Object.keys(object).filter((each) => Object.hasOwn(fields, each) && fields[each] === ours);
  return names.length === 1 ? ours : name;
}

export function isIdentifier(name: string): boolean {
  const tables = [VARIANTS, ...Object.values(VARIANTS.records)].map(({ fields = {} }) => fields);
  const ours = tables.flatMap((fields) => (Object.hasOwn(fields, name) ? (fields[name] ?? []) : []));
  return (ours.length === 0 ? [name] : ours).some((each) => /(?:^|_)(?:id|iccid)$/.test(each));
}

function ownValue(field: (typeof VALUE_FIELDS)[number], value: string, { values }: RecordTerms): string {
  const plain = value.trim().toLowerCase();
  return Object.entries(values[field] ?? {}).find(([theirs]) => theirs.toLowerCase() === plain)?.[1] ?? plain;
}

export function isAmount(name: string): boolean {
  return (AMOUNT_FIELDS as readonly string[]).includes(name);
}

const MONEY_KEYS: ReadonlySet<string> = new Set(['amount', 'value', 'currency', 'divisor']);

/** The amount may state its own divisor. An object beside another currency stays unchanged. */
function readAmount(fields: Fields, name: string, unit: AmountUnit): void {
  const money = fields[name];
  if (typeof money !== 'object' || money === null || Array.isArray(money)) return toDecimal(fields, name, unit);
  const { amount, value = amount, currency, divisor } = money as Readonly<Record<string, unknown>>;
  const isOneAmount = value !== undefined && (amount === undefined || amount === value);
  // Another number, such as an exponent, may change the meaning of the amount.
  const isPlain = Object.entries(money).every(([key, each]) => MONEY_KEYS.has(key) || typeof each === 'string');
  if (!isOneAmount || !isPlain || typeof currency !== 'string') return;
  const beside = fields['currency'];
  if (typeof beside === 'string' && beside.toUpperCase() !== currency.toUpperCase()) return;
  // The currency belongs to this amount, so the record must have no other amount.
  const isAlone = AMOUNT_FIELDS.every((each) => each === name || fields[each] === undefined || fields[each] === null);
  if (typeof beside !== 'string' && !isAlone) return;
  fields[name] = value;
  fields['currency'] = currency;
  const isNumber = typeof divisor === 'number' || (typeof divisor === 'string' && /^\d+$/.test(divisor));
  if (divisor === undefined) return toDecimal(fields, name, unit);
  // One that cannot be read makes the amount unreadable.
  const stated = isNumber ? Number(divisor) : Number.NaN;
  toDecimal(fields, name, stated === 1 ? 'decimal' : stated);
}

/** A value that contradicts the unit is removed. */
function toDecimal(fields: Fields, name: string, unit: AmountUnit): void {
  const { [name]: units, currency } = fields;
  if (units === undefined || units === null || unit === 'unstated' || unit === 'decimal') return;
  const digits = unit === 'minor_units' ? minorDigits(currency) : Math.log10(unit);
  if (!isWhole(units) || digits === undefined || !Number.isInteger(digits) || digits < 0) {
    Reflect.deleteProperty(fields, name);
    return;
  }
  const plain = String(units).trim();
  const sign = plain.startsWith('-') ? '-' : '';
  const text = plain.replace('-', '').padStart(digits + 1, '0');
  fields[name] = digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Currencies whose minor unit is not a hundredth, by their decimals in ISO 4217. `Intl` follows usage instead. */
const DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** Without a currency the smallest unit is unknown. */
function minorDigits(currency: unknown): number | undefined {
  if (typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) return undefined;
  const found = Object.entries(DIGITS).find(([, codes]) => codes.split(' ').includes(currency.toUpperCase()));
  return found === undefined ? 2 : Number(found[0]);
}

function isWhole(amount: unknown): amount is number | string {
  return Number.isSafeInteger(amount) || (typeof amount === 'string' && /^-?\d{1,15}$/.test(amount.trim()));
}

export function serviceParameter(name: string): string | null {
  const theirs = Object.hasOwn(VARIANTS.parameters, name) ? VARIANTS.parameters[name] : undefined;
  return theirs === undefined ? name : theirs;
}

/** Values that are no price are not counted. */
export interface PriceForms {
  readonly whole: number;
  readonly decimal: number;
}

export function priceForms(items: readonly unknown[]): PriceForms {
  const prices = items
    .map((item) => (typeof item === 'object' && item !== null ? (item as Fields)['price_for_reseller'] : undefined))
    .filter((price) => typeof price === 'string' || typeof price === 'number');
  const decimal = prices.filter((price) => /^-?\d+\.\d+$/.test(String(price).trim())).length;
  return { whole: prices.filter(isWhole).length, decimal };
}

/** Every price is a whole number, so 320 may mean 3.20. */
export function isAmbiguous({ whole, decimal }: PriceForms, amounts: AmountUnit): boolean {
  return amounts === 'unstated' && whole > 0 && decimal === 0;
}
