/** The styles of the foreign service: how it names, wraps and writes what it says. A style is data. */

/** The records of the service. */
export type RecordKind =
  | 'access'
  | 'package'
  | 'plan'
  | 'order'
  | 'esim'
  | 'usage'
  | 'topup'
  | 'subscription'
  | 'cancellation'
  | 'refund'
  | 'transaction'
  | 'wallet'
  | 'update';

export interface Style {
  /** What the style resembles, for readers of the table. */
  readonly habit: string;
  readonly letters: 'snake' | 'camel' | 'pascal';
  /** Other names of fields, by record: the plain name first. They are written in the letters of the style. */
  readonly names?: Readonly<Partial<Record<RecordKind, Readonly<Record<string, string>>>>>;
  /** `number`: up to 2^53; `long`: 64 bits, as JSON numbers. */
  readonly ids: 'number' | 'long' | 'uuid' | 'prefixed';
  /**
   * `object`: `{"amount": "3.20", "currency": "USD"}`; `minor_object`: the same with a whole number of cents and
   * `currency_code`; `divided`: `{"fixed": 320, "currencyDivisor": 100, "currency": "USD"}`.
   */
  readonly money: 'text' | 'number' | 'minor' | 'comma' | 'object' | 'minor_object' | 'divided';
  /** Records that write amounts in another way. */
  readonly moneyOf?: Readonly<Partial<Record<RecordKind, Style['money']>>>;
  readonly lowerCurrency?: boolean;
  readonly times: 'iso' | 'offset' | 'zoneless' | 'seconds' | 'milliseconds';
  /** How one record is wrapped. `named`: below its own name. */
  readonly envelope: 'bare' | 'data' | 'result' | 'named' | 'jsend' | 'json_api' | 'coded' | 'obj' | 'nested';
  readonly list:
    | 'cursor'
    | 'laravel'
    | 'django'
    | 'stripe'
    | 'paddle'
    | 'offset'
    | 'link'
    | 'rails'
    | 'after_cursor'
    | 'plain';
  /** Values of states and types, by record: the plain value first. */
  readonly words?: Readonly<Partial<Record<RecordKind, Readonly<Record<string, string>>>>>;
  readonly capitals?: boolean;
  readonly errors: 'problem' | 'laravel' | 'django' | 'stripe' | 'jsend' | 'coded' | 'html';
  /** Status of an accepted purchase that is completed, or in progress. */
  readonly accepted: readonly [completed: number, processing: number];
  /** The body of an event. */
  readonly event: 'event_data' | 'type_object' | 'event_type_named' | 'bare_data';
}

const PLAIN: Style = {
  habit: 'plain REST',
  letters: 'snake',
  ids: 'prefixed',
  money: 'text',
  times: 'iso',
  envelope: 'bare',
  list: 'cursor',
  errors: 'problem',
  accepted: [201, 202],
  event: 'event_data',
};

const OTHER_WORDS = {
  order: { processing: 'PENDING', completed: 'DELIVERED', failed: 'ERROR' },
  topup: { processing: 'PENDING', completed: 'DELIVERED', failed: 'ERROR' },
  subscription: { processing: 'PENDING', active: 'LIVE', cancelled: 'STOPPED', expired: 'ENDED', failed: 'ERROR' },
  cancellation: { cancelled: 'VOIDED' },
  refund: { completed: 'DELIVERED', processing: 'PENDING', failed: 'ERROR' },
  esim: { available: 'RELEASED' },
} as const;

const PRICE_IS_AMOUNT = { price_for_reseller: 'amount' } as const;

const STYLES = {
  plain: PLAIN,
  laravel: {
    ...PLAIN,
    habit: 'Laravel resources',
    ids: 'number',
    times: 'zoneless',
    envelope: 'data',
    list: 'laravel',
    errors: 'laravel',
    accepted: [201, 201],
  },
  django: { ...PLAIN, habit: 'Django REST framework', ids: 'uuid', times: 'offset', list: 'django', errors: 'django' },
  rails: {
    ...PLAIN,
    habit: 'Rails with root names',
    ids: 'number',
    envelope: 'named',
    list: 'rails',
    errors: 'laravel',
    accepted: [200, 200],
    event: 'event_type_named',
  },
  jsend: {
    ...PLAIN,
    habit: 'JSend',
    money: 'number',
    times: 'milliseconds',
    envelope: 'jsend',
    list: 'offset',
    errors: 'jsend',
    accepted: [200, 202],
  },
  coded: {
    ...PLAIN,
    habit: 'an envelope with a code',
    ids: 'number',
    money: 'object',
    envelope: 'coded',
    list: 'laravel',
    errors: 'coded',
    capitals: true,
    accepted: [200, 200],
    event: 'type_object',
  },
  git_like: {
    ...PLAIN,
    habit: 'bare lists with a Link header',
    ids: 'number',
    money: 'number',
    list: 'link',
    errors: 'html',
  },
  airalo: {
    ...PLAIN,
    habit: 'Airalo partner API',
    ids: 'number',
    money: 'number',
    times: 'zoneless',
    envelope: 'data',
    list: 'laravel',
    errors: 'laravel',
    accepted: [200, 200],
    event: 'bare_data',
  },
  long_ids: { ...PLAIN, habit: '64-bit numbers as ids', ids: 'long', envelope: 'result', list: 'offset' },
  celitech: { ...PLAIN, habit: 'Celitech: lists without an end mark', ids: 'uuid', list: 'after_cursor' },
  stripe: {
    ...PLAIN,
    habit: 'Stripe',
    money: 'minor',
    lowerCurrency: true,
    times: 'seconds',
    list: 'stripe',
    errors: 'stripe',
    accepted: [200, 200],
    event: 'type_object',
  },
  paddle: {
    ...PLAIN,
    habit: 'Paddle',
    money: 'minor_object',
    envelope: 'data',
    list: 'paddle',
    accepted: [201, 201],
    event: 'event_type_named',
  },
  camel: { ...PLAIN, habit: 'names in camelCase', letters: 'camel', envelope: 'data', list: 'offset' },
  dot_net: { ...PLAIN, habit: 'names in PascalCase', letters: 'pascal', ids: 'uuid', envelope: 'result' },
  esim_go: {
    ...PLAIN,
    habit: 'eSIM Go: other words for states',
    ids: 'uuid',
    list: 'rails',
    words: OTHER_WORDS,
    accepted: [200, 200],
  },
  esimfly: {
    ...PLAIN,
    habit: 'eSIMfly: one name for price and money, prices in cents',
    envelope: 'obj',
    list: 'plain',
    errors: 'coded',
    moneyOf: { package: 'minor', plan: 'minor' },
    names: { package: PRICE_IS_AMOUNT, plan: PRICE_IS_AMOUNT, order: PRICE_IS_AMOUNT, topup: PRICE_IS_AMOUNT },
  },
  gigs: {
    ...PLAIN,
    habit: 'Gigs: amounts in cents beside their currency',
    money: 'minor_object',
    list: 'after_cursor',
    accepted: [200, 200],
  },
  zendit: {
    ...PLAIN,
    habit: 'Zendit: amounts with a divisor',
    letters: 'camel',
    money: 'divided',
    list: 'offset',
    words: {
      order: { completed: 'DONE', processing: 'ACCEPTED' },
      topup: { completed: 'DONE', processing: 'ACCEPTED' },
    },
  },
  json_api: { ...PLAIN, habit: 'JSON:API', envelope: 'json_api', list: 'django', errors: 'laravel' },
  comma: { ...PLAIN, habit: 'decimal commas', money: 'comma', envelope: 'data', list: 'laravel' },
  nested: { ...PLAIN, habit: 'an envelope of its own', envelope: 'nested' },
} as const satisfies Record<string, Style>;
export type StyleName = keyof typeof STYLES;

export function styleOf(name: StyleName): Style {
  return STYLES[name];
}
