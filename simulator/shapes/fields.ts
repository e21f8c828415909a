import {
  isArray,
  isObject,
  objectSchema,
  orNull,
  splitNull,
  type Json,
  type JsonObject,
} from '#simulator/shapes/json.ts';
import { contractName, type Shape } from '#simulator/shapes/shape.ts';
import { AMOUNT_FIELDS, statedUnit } from '#upstream/contract.ts';

export interface ShapeContext {
  readonly shape: Shape;
  readonly numberOf: (id: string) => number | undefined;
}

/** Null stays null. */
export interface FieldChange {
  readonly schema: JsonObject;
  readonly value: (plain: Json, record: JsonObject) => Json;
}

const IDS = new Set(['id', 'order_id', 'esim_id', 'topup_id', 'refund_id', 'vpn_subscription_id']);
const ITEM_IDS = new Set(['package_id', 'vpn_plan_id']);
const ITEMS = new Set(['package', 'vpn_plan']);
const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_FIELDS);
const STATUSES = new Set(['status', 'review']);

/** Has `countries: null` in the shape `odd_package`. */
const ODD_PACKAGE = 1004;
const ZONE_OFFSET_MS = 7_200_000;

export function fieldChange(
  context: ShapeContext,
  record: string,
  name: string,
  schema: JsonObject,
): FieldChange | undefined {
  const { shape } = context;
  const itemId = ITEM_IDS.has(name) || (name === 'id' && ITEMS.has(record));
  if (itemId) return shape.package_ids === 'text' ? textId : undefined;
  if (IDS.has(name)) return shape.ids === 'number' ? numberId(context) : undefined;
  if (AMOUNTS.has(name)) return amount(shape, statedUnit(contractName(record)));
  if (name === 'currency') return shape.currency === 'lower' ? lowerCaseCurrency : undefined;
  if (name.endsWith('_at')) return TIMES[shape.times];
  if (STATUSES.has(name)) return status(shape.status_words, schema);
  if (name === 'failure') return shape.failure === 'text' ? failureText : undefined;
  if (name === 'token_type') return tokenType(shape.token_type);
  if (name === 'countries' && record === 'package') return shape.odd_package ? oddCountries(schema) : undefined;
  return undefined;
}

const ofText = (convert: (text: string) => Json) => (plain: Json) =>
  typeof plain === 'string' ? convert(plain) : plain;

const textId: FieldChange = {
  schema: { type: 'string', pattern: '^[0-9]+$' },
  value: (plain) => (typeof plain === 'number' ? String(plain) : plain),
};

function numberId({ numberOf }: ShapeContext): FieldChange {
  return { schema: { type: 'integer', minimum: 1 }, value: ofText((id) => numberOf(id) ?? id) };
}

/** The service's terms may have a unit of whole numbers. */
function amount({ money, currency }: Shape, unit: number | undefined): FieldChange | undefined {
  switch (money) {
    case 'text':
      if (unit === undefined) return undefined;
      return { schema: { type: 'integer' }, value: ofText((text) => Math.round(Number(text) * unit)) };
    case 'number':
      return { schema: { type: 'number' }, value: ofText(Number) };
    case 'minor':
      return { schema: { type: 'integer' }, value: ofText((text) => Math.round(Number(text) * 100)) };
    case 'object': {
      const code = (text: Json | undefined): Json =>
        currency === 'lower' && typeof text === 'string' ? text.toLowerCase() : (text ?? null);
      return {
        schema: objectSchema({ amount: { type: 'string' }, currency: { type: 'string' } }),
        value: (plain, { currency: text }) => ({ amount: plain, currency: code(text) }),
      };
    }
  }
}

/** An amount then contains its currency, and the record has no currency field. */
export function holdsCurrency({ money }: Shape, properties: JsonObject): boolean {
  return money === 'object' && Object.keys(properties).some((name) => AMOUNTS.has(name));
}

const lowerCaseCurrency: FieldChange = {
  schema: { type: 'string', pattern: '^[a-z]{3}$' },
  value: ofText((text) => text.toLowerCase()),
};

const TIMES: Readonly<Record<Shape['times'], FieldChange | undefined>> = {
  utc: undefined,
  offset: {
    schema: { type: 'string', format: 'date-time', pattern: '\\+02:00$' },
    value: ofText((text) => new Date(Date.parse(text) + ZONE_OFFSET_MS).toISOString().replace('Z', '+02:00')),
  },
  no_zone: {
    schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$', description: 'Time in UTC.' },
    value: ofText((text) => new Date(text).toISOString().slice(0, 19).replace('T', ' ')),
  },
  epoch_seconds: {
    schema: { type: 'integer', description: 'Unix time in seconds.' },
    value: ofText((text) => Math.floor(Date.parse(text) / 1_000)),
  },
  epoch_milliseconds: {
    schema: { type: 'integer', description: 'Unix time in milliseconds.' },
    value: ofText((text) => Date.parse(text)),
  },
};

const OTHER_WORDS: Readonly<Record<string, string>> = {
  processing: 'pending',
  completed: 'success',
  failed: 'error',
  active: 'live',
  expired: 'ended',
  cancelled: 'stopped',
  refused: 'declined',
  accepted: 'approved',
  manual_review: 'in_review',
  available: 'delivered',
  installed: 'loaded',
  consumed: 'used_up',
};

const WORDS: Readonly<Record<Exclude<Shape['status_words'], 'ours'>, (word: string) => string>> = {
  other: (word) => OTHER_WORDS[word] ?? word,
  upper: (word) => word.toUpperCase(),
  canceled: (word) => word.replace('cancelled', 'canceled'),
};

function status(words: Shape['status_words'], schema: JsonObject): FieldChange | undefined {
  if (words === 'ours') return undefined;
  const convert = ofText(WORDS[words]);
  const { inner } = splitNull(schema);
  const { enum: listed } = inner;
  return { schema: isArray(listed) ? { ...inner, enum: listed.map(convert) } : inner, value: convert };
}

const failureText: FieldChange = {
  schema: { type: 'string' },
  value: (plain) => (isObject(plain) ? (plain['message'] ?? '') : plain),
};

function tokenType(type: Shape['token_type']): FieldChange | undefined {
  if (type === 'Bearer') return undefined;
  if (type === 'null') return { schema: { type: 'null' }, value: () => null };
  return { schema: { type: 'string', const: type }, value: () => type };
}

function oddCountries(schema: JsonObject): FieldChange {
  return { schema: orNull(schema), value: (plain, { id }) => (id === ODD_PACKAGE ? null : plain) };
}
