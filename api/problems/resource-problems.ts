import { IDS } from '#api/fields/fields.ts';
import type { ProblemRow } from '#api/problems/problem-catalogue.ts';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

function missing(what: string, advice: string, meaning?: string) {
  return { status: 404, title: `There is no such ${what}`, advice, ...(meaning !== undefined && { meaning }) } as const;
}

function unknownId(kind: IdKind, more?: string) {
  const advice = `Check the id; it begins with \`${ID_PREFIXES[kind]}_\`.`;
  return missing(IDS[kind].noun, more === undefined ? advice : `${advice} ${more}`);
}

const USED_BEFORE =
  'You have used this reference before, perhaps in a request whose answer was lost. Nothing new was bought.';

const WORK_NOT_FOUND = Object.fromEntries(
  WORK_KINDS.map((kind) => [`${kind}_not_found`, { ...unknownId(kind), ...referenceHint(KINDS[kind]) }]),
) as Record<`${WorkKind}_not_found`, ReturnType<typeof missing>>;

function referenceHint(kind: (typeof KINDS)[WorkKind]): { readonly meaning?: string } {
  if (!('callerReference' in kind)) return {};
  const { noun, callerReference: field, path } = kind;
  return { meaning: `No ${noun} has this id. An \`${field}\` goes into the list: \`GET ${path}?${field}=…\`.` };
}

type CallerReference = Extract<(typeof KINDS)[WorkKind], { readonly callerReference: string }>['callerReference'];

const REFERENCE_TAKEN = Object.fromEntries(
  Object.values(KINDS).flatMap((kind) => {
    if (!('callerReference' in kind)) return [];
    const { noun, callerReference: field } = kind;
    const title = `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} with this ${field} exists`;
    const advice =
      `Read the ${noun} in \`existing\`. If it is the one you meant, do nothing; ` +
      `for another one use a new ${field}.`;
    return [[`${field}_taken`, { status: 409, title, advice, meaning: USED_BEFORE }]];
  }),
) as Record<`${CallerReference}_taken`, ProblemRow & { readonly status: 409 }>;

/** Of single resources. */
export const RESOURCE_PROBLEMS = {
  ...WORK_NOT_FOUND,
  order_batch_not_found: unknownId('orderBatch'),
  refund_not_found: unknownId('refund'),
  access_data_unavailable: {
    status: 404,
    title: 'There are no access data',
    advice: 'They are available once the subscription is active, unless the service delivers them itself.',
    meaning: 'The subscription exists, but its access data are not known.',
  },
  case_not_found: unknownId('case'),
  dead_letter_not_found: missing('dead letter', 'It may have been requeued or dismissed already: see the list.'),
  drift_stop_not_found: missing('stop', 'See `GET /v1/purchase-gate`.'),
  pause_not_found: unknownId('pause'),
  pricing_rule_not_found: unknownId('pricingRule'),
  esim_not_found: unknownId('esim'),
  share_link_not_found: unknownId('shareLink', 'The secret in the address of a link is not its id.'),
  wallet_transaction_not_found: missing(
    'movement of the wallet',
    'Check the id: it begins with `mov_` and is in the list with `cause=none`.',
  ),
  reconciliation_not_found: unknownId('reconciliation', 'Reports are deleted after some months.'),
  package_not_found: missing(
    'package',
    'Read GET /v1/packages again: the service may have withdrawn it.',
    'The service sells no package with this id to this reseller at the moment.',
  ),
  vpn_plan_not_found: missing(
    'VPN plan',
    'Read GET /v1/vpn/plans again: the service may have withdrawn it.',
    'The service sells no VPN plan with this id to this reseller at the moment.',
  ),
  webhook_endpoint_not_found: unknownId('webhookEndpoint'),
  webhook_delivery_not_found: missing(
    'delivery of this webhook endpoint',
    'Check the id; it begins with `wd_`. Ended deliveries are deleted after some weeks.',
  ),
  event_not_found: unknownId('event', 'It is published a moment after the change, and deleted after some weeks.'),
  pricing_rule_exists: {
    status: 409,
    title: 'A pricing rule with the same target and currency is in force',
    advice: 'Change the rule in `existing`, or end it first: it would be undefined which of two rules applies.',
  },
  pricing_rule_changed: {
    status: 409,
    title: 'The pricing rule has changed since you read it',
    advice: 'It was changed or ended meanwhile. Read it again and decide again.',
  },
  ...REFERENCE_TAKEN,
  external_batch_id_taken: {
    status: 409,
    title: 'A batch with this external_batch_id exists',
    advice:
      'Read the batch in `existing`. If it is the one you meant, do nothing; for another one use a new reference.',
    meaning: USED_BEFORE,
  },
  nothing_delivered: {
    status: 409,
    title: 'No eSIM of the batch is delivered yet',
    advice: 'Wait until an order of the batch is completed, or for the event `order_batch.completed`.',
    meaning: 'A sheet or archive of QR codes would be empty.',
  },
  cancellation_exists: {
    status: 409,
    title: 'A cancellation of this eSIM exists',
    advice: 'Read the one in `existing`. Another one is possible after it was refused or abandoned.',
    meaning: 'This eSIM is being cancelled, or was cancelled. Nothing new was sent.',
  },
  esim_ended: {
    status: 409,
    title: 'The eSIM is cancelled or expired, or is being cancelled',
    advice: 'It can no longer be installed, so it has nothing to share.',
  },
  sandbox_only: {
    status: 409,
    title: 'This is possible only in the sandbox',
    advice: 'Use an installation whose `SERVICE_MODE` is `sandbox`, with a key that begins with `rsk_test_`.',
    meaning: 'In production only the phone of the customer changes an eSIM. Nothing was done.',
  },
  action_not_possible: {
    status: 409,
    title: 'The action is not possible in its current state',
    advice: 'Read it again: `refusal` and `detail` contain the reason.',
    meaning:
      'The status of the work does not allow the action: finished work cannot be retried, and work that may have ' +
      'bought something cannot be abandoned.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    title: 'The webhook endpoint is disabled',
    advice: 'Enable it first: POST …/enable, which can also replay what it has missed.',
  },
  webhook_endpoint_limit: {
    status: 409,
    title: 'The maximum number of webhook endpoints is reached',
    advice: 'Delete one that is no longer needed. One endpoint can get events of several kinds.',
  },
  webhook_secret_exists: {
    status: 409,
    title: 'The service has a webhook secret already',
    advice: 'The service shows it only once. Rotate it to get one that is stored here.',
    meaning: 'The service keeps one secret and shows it once, at its creation.',
  },
  webhook_secret_missing: {
    status: 409,
    title: 'The service has no webhook secret to rotate',
    advice: 'Create the first one.',
  },
  webhook_secret_busy: {
    status: 409,
    title: 'Another request is changing the webhook secret',
    advice: 'Do nothing if you wanted that change; otherwise send the same request again after Retry-After.',
  },
  cursor_expired: {
    status: 410,
    title: 'The events after this cursor are no longer stored',
    advice:
      'You have missed events. Read the lists of the resources that you track (filter by `updated_after`), ' +
      'then continue the feed without a cursor, or with `created_after`.',
  },
  purchase_not_possible: {
    status: 422,
    title: 'This purchase is not possible',
    advice:
      'Correct the fields in `errors`. Nothing was stored, so the same reference and the same Idempotency-Key can be ' +
      'used again.',
    meaning:
      'The service does not sell what the request names, or sells it in another currency than `max_price`. `read_at` ' +
      'tells when its offers were read. Nothing was bought.',
  },
  quote_expired: {
    status: 422,
    title: 'The quote has expired',
    advice:
      'Ask for a new quote and pass its id, or give `max_price` instead. Nothing was stored, so the same reference ' +
      'and the same Idempotency-Key can be used again.',
    meaning: 'The price of a quote holds for 15 minutes. Nothing was bought.',
  },
} as const satisfies Record<string, ProblemRow>;
