/**
 * The statements of the service's specification, in our own words. A test names the statements that it covers at the
 * end of its title, as `[spec: id, other.id]`; `area.*` names all statements below `area.`.
 * `docs/reference/spec-coverage.md` is generated from both.
 */

const STATEMENT_KINDS = ['endpoint', 'header', 'field', 'record', 'state', 'event', 'rule', 'limit', 'gap'] as const;
type StatementKind = (typeof STATEMENT_KINDS)[number];

export interface Statement {
  /** A stable id in lower case, with parts separated by dots. */
  readonly id: string;
  readonly kind: StatementKind;
  readonly says: string;
}

export interface Section {
  readonly title: string;
  /** A remark about the whole section. */
  readonly note?: string;
  readonly statements: readonly Statement[];
}

/** Makes one statement of each `[id, text]`. */
function all(kind: StatementKind, area: string, rows: readonly (readonly [id: string, says: string])[]): Statement[] {
  return rows.map(([id, says]) => ({ id: `${area}.${id}`, kind, says }));
}

const ENVIRONMENTS = all('rule', 'environments', [
  ['production-address', 'Production is called under `{base_url}`.'],
  ['sandbox-address', 'The sandbox is called under `{base_url}` followed by `/sandbox`.'],
  ['safe-start', 'A reseller starts in the sandbox, which needs no approval.'],
  ['approval', 'Production is usable only after the service has approved the reseller.'],
  ['production-wallet', 'Production orders debit the real wallet.'],
  ['sandbox-balance', 'The sandbox has a fictional balance and simulated eSIMs.'],
  ['sandbox-never-debits', 'The sandbox never debits the production wallet.'],
  ['sandbox-no-supplier', 'The sandbox contacts no supplier.'],
]);

const LOGINS: Statement[] = [
  ...all('endpoint', 'login', [
    ['production', '`POST /login` gives a production token.'],
    ['sandbox', '`POST /sandbox/login` gives a sandbox token.'],
  ]),
  ...all('field', 'field.login', [
    ['email', '`email`: address of the reseller account.'],
    ['password', '`password` of the reseller account.'],
    ['device_name', '`device_name`: free label of the client that holds the token.'],
    ['expires_in_days', '`expires_in_days`: requested lifetime in whole days; production login only.'],
  ]),
];

const AUTHENTICATION: Statement[] = [
  ...all('header', 'header', [['authorization', '`Authorization: Bearer <token>` on every protected call.']]),
  ...all('rule', 'auth', [
    ['open-logins', 'The logins take no `Authorization`.'],
    ['everywhere-else', 'Every other call is refused without a token.'],
    ['separate', 'Tokens of production and sandbox are separate.'],
    ['lifetime', 'A production login may ask for the lifetime of its token.'],
    ['updates', 'The update check uses the same token as all other calls.'],
    ['secret-shown-once', 'The service creates the webhook secret and shows it once, after creation or rotation.'],
    ['secret-rotated', 'A rotation creates a new webhook secret.'],
  ]),
];

const REQUESTS: Statement[] = [
  ...all('header', 'header', [
    ['content-type', 'Bodies are declared as `Content-Type: application/json`.'],
    ['idempotency-key', '`Idempotency-Key` on order, VPN order, top-up and eSIM cancellation only.'],
    ['idempotency-unique', 'An `Idempotency-Key` is unique for each operation.'],
  ]),
  ...all('rule', 'requests', [
    ['json', 'Requests and answers are JSON over HTTP.'],
    ['shown', 'The calls with shown paths are those of this list.'],
  ]),
];

const CALLS = all('endpoint', 'endpoint', [
  ['orders', '`POST /orders` buys an eSIM package.'],
  ['vpn-plans', '`GET /vpn/plans` lists VPN plans.'],
  ['vpn-orders', '`POST /vpn/orders` orders a VPN subscription.'],
  ['vpn-cancel', '`POST /vpn/subscriptions/{id}/cancel` cancels one; no body, no key.'],
  ['updates', '`GET /updates/latest` checks for an update of the storefront.'],
  ['topup-options', '`GET /esims/{id}/topup-options` lists compatible top-up packages.'],
  ['topups', '`POST /topups` recharges an eSIM.'],
  ['esim-cancel', '`POST /esims/{id}/cancel` cancels an unused eSIM; no body.'],
]);

const UNSHOWN_CALLS = all('endpoint', 'endpoint', [
  ['public-packages', 'There is a public listing of packages.'],
  ['packages', 'Packages can be read with the prices charged to the reseller.'],
  ['esim-delivery', 'The delivery of an eSIM can be read.'],
  ['esim-usage', 'The usage of an eSIM can be read.'],
  ['simulation', 'A call of the sandbox sets the state of a simulated eSIM.'],
  ['refunds', 'Refunds can be read.'],
  ['wallet', 'The wallet can be read.'],
  ['webhook-secret', 'The webhook secret can be created and rotated.'],
  ['openapi', 'The OpenAPI description can be downloaded as JSON.'],
]);

const FIELDS: Statement[] = [
  ...all('field', 'field.order', [
    ['package_id', '`package_id` (integer): the package to buy.'],
    ['external_order_id', '`external_order_id` (string): our own reference.'],
    ['device_imei', '`device_imei` (digits): the device of the customer.'],
  ]),
  ...all('field', 'field.vpn-order', [
    ['vpn_plan_id', '`vpn_plan_id` (integer): the plan.'],
    ['external_subscription_id', '`external_subscription_id` (string): our own reference.'],
    ['customer_reference', '`customer_reference` (string): our customer.'],
    ['customer_price', '`customer_price` (decimal number): what we charged our customer.'],
  ]),
  ...all('field', 'field.topup', [
    ['esim_id', '`esim_id` (string): the `{id}` in the paths of eSIMs.'],
    ['package_id', '`package_id` (integer): one of the top-up options of that eSIM.'],
  ]),
  ...all('field', 'field.updates', [
    ['current_version', '`current_version`: the installed version, dotted numbers.'],
    ['channel', '`channel`: `stable` is one of an open list.'],
  ]),
];

const RECORDS = all('record', 'record', [
  ['package.id', 'A package has an identifier that is used as `package_id`.'],
  ['package.price_for_reseller', 'A package has `price_for_reseller`.'],
  ['vpn-plan.id', 'A VPN plan has an identifier that is used as `vpn_plan_id`.'],
  ['vpn-plan.price_for_reseller', 'A VPN plan has `price_for_reseller` (decimal).'],
  [
    'vpn-subscription.id',
    'A VPN subscription comes from a VPN order; its identifier is in the path of its cancellation.',
  ],
  ['esim.id', 'An eSIM has an identifier, which is in its paths.'],
  ['esim.usage', 'An eSIM has usage.'],
  ['esim.installation', 'An eSIM has installation data.'],
  ['esim.activation', 'An eSIM has activation data.'],
  ['esim.topup-options', 'An eSIM has top-up options.'],
  ['wallet', 'There is a wallet.'],
  ['refund', 'There are refunds.'],
  ['charged-price', '`price_for_reseller` is the amount that the service charges.'],
  ['own-margin', 'The price that our customer pays does not change what the service charges.'],
]);

const STATES: Statement[] = [
  ...all('state', 'state.order', [
    ['completed', 'An order can be completed.'],
    ['processing', 'An order can be processing.'],
    ['failed', 'An order can have failed.'],
  ]),
  ...all('state', 'state.topup', [
    ['completed', 'A top-up can be completed.'],
    ['processing', 'A top-up can be processing.'],
    ['failed', 'A top-up can have failed.'],
  ]),
  ...all('state', 'state.vpn', [
    ['active', 'A VPN subscription can be active.'],
    ['cancelled', 'A VPN subscription can be cancelled.'],
    ['expired', 'A VPN subscription can have expired.'],
    ['failed', 'A VPN subscription can have failed.'],
  ]),
  ...all('state', 'state.simulated', [
    ['installed', 'The simulation can set an eSIM to installed.'],
    ['active', 'The simulation can set an eSIM to active.'],
    ['consumed', 'The simulation can set an eSIM to consumed.'],
  ]),
  ...all('state', 'state.esim', [['cancelled', 'An eSIM can be cancelled.']]),
  ...all('state', 'state.refund', [
    ['completed', 'A refund can be completed.'],
    ['failed', 'A refund can have failed.'],
  ]),
  ...all('state', 'state.review', [
    ['accepted', 'A refund review can accept.'],
    ['refused', 'A refund review can refuse.'],
    ['manual_review', 'A refund review can go to manual review.'],
  ]),
];

const REFUNDS: Statement[] = [
  ...all('rule', 'refund', [
    ['only-with-all-five', 'The refund is automatic only when the supplier confirms all five conditions.'],
  ]),
  ...all('rule', 'refund.condition', [
    ['usage-zero', 'Usage is zero.'],
    ['never-installed', 'The eSIM was never installed.'],
    ['never-activated', 'The eSIM was never activated.'],
    ['no-topup', 'It has no completed top-up.'],
    ['debit-verified', 'The original debit is verified.'],
  ]),
];

const FLOWS = all('rule', 'flow', [
  ['topup', 'Top-up: read the options, then buy one of them.'],
  ['vpn', 'VPN: read the plans, order, later cancel.'],
  ['simulation', 'In the sandbox the simulation leads to each result of a refund review.'],
]);

const EVENTS: Statement[] = [
  ...all('event', 'event', [
    ['ping', '`ping`: connectivity test.'],
    ['order.completed', '`order.completed`'],
    ['order.processing', '`order.processing`'],
    ['order.failed', '`order.failed`'],
    ['topup.completed', '`topup.completed`'],
    ['topup.processing', '`topup.processing`'],
    ['topup.failed', '`topup.failed`'],
    ['esim.cancelled', '`esim.cancelled`'],
    ['refund.completed', '`refund.completed`'],
    ['refund.failed', '`refund.failed`'],
    ['vpn.subscription.active', '`vpn.subscription.active`'],
    ['vpn.subscription.cancelled', '`vpn.subscription.cancelled`'],
    ['vpn.subscription.expired', '`vpn.subscription.expired`'],
    ['vpn.subscription.failed', '`vpn.subscription.failed`'],
  ]),
  ...all('rule', 'events', [['closed-list', 'There are exactly these fourteen kinds.']]),
  ...all('header', 'header.webhook', [
    ['event', '`X-Service-Event`: the kind.'],
    ['delivery', '`X-Service-Delivery`: unique for each delivery.'],
    ['timestamp', '`X-Service-Timestamp`: Unix time in seconds, digits only.'],
    ['signature', '`X-Service-Signature`: `v1=` and the hexadecimal HMAC SHA-256.'],
  ]),
];

const SIGNATURES: Statement[] = [
  ...all('rule', 'signature', [
    ['signed-string', 'The timestamp, a full stop and the raw body exactly as received are signed.'],
    ['key-and-form', 'The key is the webhook secret; the digest is in lower case after `v1=`.'],
    ['constant-time', 'The expected and the received value are compared in constant time.'],
    ['digits-only', 'A timestamp that is not all digits is refused.'],
    ['stale-401', 'A stale or malformed timestamp is answered 401.'],
    ['invalid-401', 'An invalid signature is answered 401.'],
    ['duplicates', 'Every delivery identifier is stored, and a duplicate has no effect.'],
    ['accepted-before-2xx', 'A 2xx is answered only once the event has been accepted.'],
  ]),
  ...all('limit', 'limit', [
    ['webhook-tolerance', 'A timestamp may differ from the clock by 300 seconds, and no more.'],
  ]),
];

const VERSIONING = all('rule', 'versioning', [
  ['path', '`{base_url}` ends with `/api/reseller/v1`.'],
  ['signature-label', 'The signature scheme is labelled `v1`.'],
  ['openapi', 'A machine-readable OpenAPI description exists.'],
]);

const GAPS = all('gap', 'gap', [
  ['answers', 'Answer bodies: marked as assumed, read tolerantly, and drift is detected.'],
  ['paths', 'Paths of calls that are only named: marked as assumed; each call can be switched off.'],
  ['bounds', 'Required fields and their bounds: our client refuses early, the simulator is strict.'],
  ['repeated-key', 'A repeated `Idempotency-Key`: each possible answer is a dialect, and none buys twice.'],
  ['key-retention', 'Retention of keys: nothing is sent again after the window.'],
  ['reference-unique', 'Uniqueness of references: a purchase with a used reference is looked up, not repeated.'],
  [
    'sandbox-calls',
    'Calls of the sandbox besides the login: all are expected there, and the check reports missing ones.',
  ],
  ['token-end', 'Lifetime and revocation of tokens: a token is renewed before its stated expiry, or else after a 401.'],
  ['events', 'Event bodies: an unreadable or contradictory body is stored and has no effect.'],
  ['redelivery', 'The retry schedule of webhooks: late, repeated and reordered deliveries are handled.'],
  ['errors', 'Statuses, shapes and codes of errors: every answer has a class in a closed catalogue.'],
  ['rate-limits', 'Rate limits: `Retry-After` is honoured.'],
  ['transitions', 'Transitions: a table defines the allowed sequences of reported states.'],
  ['compatibility', 'Compatibility between versions: unknown fields are ignored, missing ones are drift.'],
]);

export const SECTIONS: readonly Section[] = [
  { title: 'Environments', statements: ENVIRONMENTS },
  { title: 'Login', statements: LOGINS },
  { title: 'Authentication', statements: AUTHENTICATION },
  { title: 'Requests', statements: REQUESTS },
  { title: 'Calls with shown paths', statements: CALLS },
  {
    title: 'Calls without shown paths',
    statements: UNSHOWN_CALLS,
    note: 'Their paths are assumed; see [assumptions](../assumptions.md).',
  },
  { title: 'Request fields', statements: FIELDS },
  { title: 'Records', statements: RECORDS },
  { title: 'States', statements: STATES },
  { title: 'Refund conditions', statements: REFUNDS },
  { title: 'Flows', statements: FLOWS },
  { title: 'Events and their headers', statements: EVENTS },
  { title: 'Webhook signatures', statements: SIGNATURES },
  { title: 'Versions', statements: VERSIONING },
  {
    title: 'Gaps',
    statements: GAPS,
    note: 'The specification says that it does not show these. The rows say how the project handles that.',
  },
];

export const STATEMENTS: readonly Statement[] = SECTIONS.flatMap(({ statements }) => statements);
