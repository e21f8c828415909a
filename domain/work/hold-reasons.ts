/** Failures that hold work: nothing was bought, and the same attempt is sent again. */
interface HoldReason {
  readonly certainty: 'definite';
  readonly disposition: 'hold';
  /** We found it ourselves: it does not show that the service answers. */
  readonly withoutAnswer?: true;
  readonly meaning: string;
  readonly advice: string;
}

export const HOLD_REASONS = {
  package_unavailable: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service does not sell this package or VPN plan at the moment.',
    advice:
      'Compare its id with the list of packages or VPN plans. It continues when it is sold again, and fails at its ' +
      'deadline.',
  },
  price_above_limit: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The price charged to the reseller is above the max_price that the caller set.',
    advice:
      'Wait for the price to fall, or change the limit. A limit in a currency other than that of the price allows ' +
      'nothing: change it.',
  },
  margin_too_low: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service charges the reseller more than the customer pays.',
    advice: 'Wait for the price to fall, or abandon it and sell the plan at another price.',
  },
  esim_busy: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way.',
    advice: 'No action: it continues when the other one has ended. If that one needs attention, handle it first.',
  },
  insufficient_balance: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The wallet at the service does not cover the price.',
    advice: 'Deposit money into the wallet; held work then continues automatically.',
  },
  not_approved: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service answers 403, as it does until it has approved this reseller for production.',
    advice:
      'Ask the service for approval, or use SERVICE_MODE=sandbox. If its answer does not have the code not_approved, ' +
      'ask what it forbids; it may be the address of this server.',
  },
  unauthorized: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service refuses our token even after a fresh login, or refuses the login.',
    advice: 'Check SERVICE_EMAIL and SERVICE_PASSWORD.',
  },
  rate_limited: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service limits the rate of our requests.',
    advice: 'No action: it continues automatically after the time that the service named.',
  },
  not_sent: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'No connection to the service could be opened, so nothing was sent.',
    advice: 'Check the network and SERVICE_BASE_URL. Held work continues automatically.',
  },
  service_down: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'The service did not answer earlier requests, so nothing was sent.',
    advice:
      'No action: one purchase at a time tests the service. When it answers, the others follow, oldest first. ' +
      '`release` sends this one now.',
  },
  spend_limit_reached: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'The price is more than what is left of a daily spending limit.',
    advice:
      'If the price alone is above the limit, raise the limit: gate.spend_limit, or that of the API key. Otherwise ' +
      'it continues on the next day (UTC), or after the limit was raised.',
  },
  purchases_paused: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning:
      'Buying is paused: by an operator, or by the product, until the shapes of the answers have been seen or ' +
      'because paid deliveries could not be used.',
    advice:
      'See `GET /v1/purchase-gate` for the reason. It continues when the pause or the stop ends; `release` sends ' +
      'this one now, past a pause.',
  },
} as const satisfies Record<string, HoldReason>;
