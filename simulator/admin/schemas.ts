import * as z from 'zod';
import { behaviourRule } from '#simulator/behaviour/behaviours.ts';
import { dialectChoice } from '#simulator/behaviour/dialect.ts';
import { faultProfile, faultRule } from '#simulator/behaviour/faults.ts';
import { rateLimit } from '#simulator/service/rate-limit.ts';
import { shapeChoice } from '#simulator/shapes/shape.ts';
import { DELIVERY_STATUSES } from '#simulator/store/deliveries.ts';
import { ENVIRONMENTS } from '#simulator/store/store.ts';
import { tampering } from '#simulator/webhooks/queue.ts';
import { SIMULATED_STATES } from '#upstream/contract.ts';

export { behaviourRule, dialectChoice, faultProfile, faultRule, rateLimit, shapeChoice };

const environment = z.enum(ENVIRONMENTS);
const amount = z.string().regex(/^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/, 'must be an amount as text, such as "10.00"');
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' });

/** Calls without a body also accept an empty object. */
export const nothing = z.strictObject({});

export const deposit = z.strictObject({
  environment,
  amount: amount.refine((text) => /[1-9]/.test(text), 'must be more than zero'),
});

export const movement = z
  .strictObject({
    environment,
    type: z.enum(['debit', 'credit']),
    amount,
    reason: z.string().regex(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters'),
    order_id: z.string().optional(),
    topup_id: z.string().optional(),
    vpn_subscription_id: z.string().optional(),
  })
  .refine(
    (given) => [given.order_id, given.topup_id, given.vpn_subscription_id].filter((id) => id !== undefined).length <= 1,
    'names more than one sale',
  );

export const approval = z.strictObject({ approved: z.boolean() });

export const clockAdvance = z.strictObject({ ms: z.int().min(1).max(31_536_000_000_000) });

/** `url` null: nothing is sent. Without a secret, the present one stays. Without an environment, both are changed. */
export const webhookTarget = z.strictObject({
  environment: environment.optional(),
  url: httpUrl.nullable(),
  secret: z.string().min(8).optional(),
});

export const webhookPing = z.strictObject({ environment: environment.default('sandbox') });

export const webhookSend = z.strictObject({
  environment: environment.default('sandbox'),
  event: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be visible ASCII characters'),
  data: z.record(z.string(), z.unknown()).default({}),
  body: z.string().max(1_048_576).optional(),
  ...tampering.shape,
});

export const failure = z.strictObject({
  code: z.string().min(1).max(64).default('supplier_failed'),
  message: z.string().max(500).default('The supplier could not deliver it.'),
});

export const esimState = z.strictObject({ state: z.enum(SIMULATED_STATES) });

export const release = z.strictObject({
  channel: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be visible ASCII characters'),
  version: z
    .string()
    .max(64)
    .regex(/^\d+(?:\.\d+)*$/, 'must be dotted numbers'),
});

export const itemChange = z
  .strictObject({ available: z.boolean().optional(), price_for_reseller: amount.optional() })
  .refine((change) => Object.keys(change).length > 0, 'names nothing to change');

const item = {
  id: z.int().min(1).max(2_147_483_647),
  name: z.string().min(1).max(200),
  price_for_reseller: amount,
  available: z.boolean().default(true),
};

export const newPackage = z.strictObject({
  ...item,
  countries: z.array(z.string()).default([]),
  data_mb: z.number().positive().nullable().default(null),
  validity_days: z.int().min(1).default(30),
});

export const newVpnPlan = z.strictObject({ ...item, duration_days: z.int().min(1).default(30) });

export const tokenRevocation = z.strictObject({ environment });

const page = {
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
};

const filtered = { ...page, environment: environment.optional() };

export const pageQuery = z.strictObject(filtered);
export const orderReferenceQuery = z.strictObject({ ...filtered, external_order_id: z.string().optional() });
export const vpnQuery = z.strictObject({ ...filtered, external_subscription_id: z.string().optional() });
export const ofEsimQuery = z.strictObject({ ...filtered, esim_id: z.string().optional() });
export const deliveryQuery = z.strictObject({
  ...filtered,
  event: z.string().optional(),
  status: z.enum(DELIVERY_STATUSES).optional(),
  /** `order_id` has the same meaning. */
  subject: z.string().optional(),
  order_id: z.string().optional(),
});
export const requestQuery = z.strictObject({
  ...filtered,
  endpoint: z.string().optional(),
  idempotency_key: z.string().optional(),
});
export const documentQuery = z.strictObject({ environment: environment.default('sandbox') });
