/**
 * Other ways to write what the contract means: names of fields, words of states, forms of amounts. An answer that does not read as the
 * contract has it is read once more with them. A new name or word of the real service is entered here, and nowhere else.
 */

/** What is read as something else. */
export interface Variants {
  /** Our field by the name that the service gives it; used where our own name is absent. */
  readonly fields: Readonly<Record<string, string>>;
  /** Our word by the service's, per field of ours; words are compared in lower case. */
  readonly words: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /**
   * The unit of amounts. `unstated`: decimals, but a price list in which every price is a whole number is refused, since it may be in
   * cents. `decimal`: decimals, whole numbers too. `minor_units`: whole numbers of the currency's smallest unit.
   */
  readonly amounts: 'unstated' | 'decimal' | 'minor_units';
  /**
   * What ends a list. `stated`: only what the service says of its pages. `assumed`: also a page that says nothing of them; to be set
   * only when the service has confirmed that, since such a list then proves that something was not bought.
   */
  readonly listEnd: 'stated' | 'assumed';
}

export const VARIANTS: Variants = {
  fields: { state: 'status' },
  words: { status: { canceled: 'cancelled' } },
  amounts: 'unstated',
  listEnd: 'stated',
};

/** Fields whose words are compared in lower case. */
const WORD_FIELDS: ReadonlySet<string> = new Set(['status', 'type', 'review']);

/** Fields that hold an amount whose currency stands beside it. */
const AMOUNT_FIELDS = ['price_for_reseller', 'price', 'amount', 'balance'] as const;

type Fields = Record<string, unknown>;

/** @returns the same value with our names, our words, and amounts as decimals beside their currency; nothing is guessed. */
export function inOurTerms(value: unknown, variants: Variants): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inOurTerms(item, variants));
  if (typeof value !== 'object' || value === null) return value;
  const fields: Fields = Object.create(null) as Fields;
  for (const [name, field] of Object.entries(value)) fields[ourName(name, value, variants)] = inOurTerms(field, variants);
  for (const name of WORD_FIELDS) translateWord(fields, name, variants);
  for (const name of AMOUNT_FIELDS) flattenAmount(fields, name);
  if (variants.amounts === 'minor_units') for (const name of AMOUNT_FIELDS) toDecimal(fields, name);
  return { ...fields };
}

function ourName(name: string, object: object, { fields }: Variants): string {
  const ours = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return ours === undefined || Object.hasOwn(object, ours) ? name : ours;
}

function translateWord(fields: Fields, name: string, variants: Variants): void {
  const word = fields[name];
  if (typeof word === 'string') fields[name] = ownWord(name, word, variants);
}

/** @returns our word for the service's word of a field; the same in lower case where we have no other. */
export function ownWord(field: string, word: string, { words }: Variants): string {
  const plain = word.trim().toLowerCase();
  const known = Object.hasOwn(words, field) ? words[field] : undefined;
  return known !== undefined && Object.hasOwn(known, plain) ? (known[plain] ?? plain) : plain;
}

/** `{"amount": …, "currency": …}` in the place of an amount; one whose currency is not that of the record stays as it is. */
function flattenAmount(fields: Fields, name: string): void {
  const money = fields[name];
  if (typeof money !== 'object' || money === null || Array.isArray(money)) return;
  const { amount, value = amount, currency } = money as { amount?: unknown; value?: unknown; currency?: unknown };
  const isOneAmount = value !== undefined && (amount === undefined || amount === value);
  if (!isOneAmount || typeof currency !== 'string') return;
  const beside = fields['currency'];
  if (typeof beside === 'string' && beside.toUpperCase() !== currency.toUpperCase()) return;
  fields[name] = value;
  fields['currency'] = currency;
}

function toDecimal(fields: Fields, name: string): void {
  const { [name]: units, currency } = fields;
  if (!isWhole(units) || typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) return;
  const digits = fractionDigits(currency.toUpperCase());
  const sign = String(units).startsWith('-') ? '-' : '';
  const text = String(units).replace('-', '').padStart(digits + 1, '0');
  fields[name] = digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Digits after the decimal point of a currency, by ISO 4217. */
function fractionDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

function isWhole(amount: unknown): boolean {
  return Number.isSafeInteger(amount) || (typeof amount === 'string' && /^-?\d{1,15}$/.test(amount));
}

/**
 * Tells whether the unit of a price list cannot be known: every price is a whole number, so that 320 may be 320 or 3.20.
 *
 * @param items as {@link inOurTerms} gives them.
 */
export function hasAmbiguousPrices(items: readonly unknown[], { amounts }: Variants): boolean {
  if (amounts !== 'unstated') return false;
  const prices = items.flatMap((item) => {
    const price = typeof item === 'object' && item !== null ? (item as Fields)['price_for_reseller'] : undefined;
    return price === undefined || price === null ? [] : [price];
  });
  return prices.length > 0 && prices.every(isWhole);
}
