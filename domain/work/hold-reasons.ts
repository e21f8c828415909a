/** Failures that hold work: nothing was bought, and the same attempt is sent again. */
const HELD = { certainty: 'definite', disposition: 'hold' } as const;
/** It does not show that the service answers. */
const FOUND_BY_US = { ...HELD, withoutAnswer: true } as const;

export const HOLD_REASONS = {
  package_unavailable: {
    ...HELD,
    meaning: 'The service does not sell this package or VPN plan at the moment.',
    advice:
      'Compare its id with the list of packages or VPN plans. It continues when it is sold again, and fails at its ' +
      'deadline.',
  },
  price_above_limit: {
    ...HELD,
    meaning: 'The price charged to the reseller is above the max_price that the caller set.',
    advice:
      'Wait for the price to fall, or change the limit. A limit in a currency other than that of the price allows ' +
      'nothing: change it.',
  },
  margin_too_low: {
    ...HELD,
    meaning: 'The service charges the reseller more than the customer pays.',
    advice: 'Wait for the price to fall, or abandon it and sell the plan at another price.',
  },
  esim_busy: {
    ...FOUND_BY_US,
    meaning: 'Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way.',
    advice: 'No action: it continues when the other one has ended. If that one needs attention, handle it first.',
  },
  insufficient_balance: {
    ...HELD,
    meaning: 'The wallet at the service does not cover the price.',
    advice: 'Deposit money into the wallet; held work then continues automatically.',
  },
  not_approved: {
    ...HELD,
    meaning: 'The service answers 403, as it does until it has approved this reseller for production.',
    advice:
      'Ask the service for approval, or use SERVICE_MODE=sandbox. If its answer does not have the code not_approved, ' +
      'ask what it forbids; it may be the address of this server.',
  },
  unauthorized: {
    ...HELD,
    meaning: 'The service refuses our token even after a fresh login, or refuses the login.',
    advice: 'Check SERVICE_EMAIL and SERVICE_PASSWORD.',
  },
  rate_limited: {
    ...HELD,
    meaning: 'The service limits the rate of our requests.',
    advice: 'No action: it continues automatically after the time that the service named.',
  },
  not_sent: {
    ...FOUND_BY_US,
    meaning: 'No connection to the service could be opened, so nothing was sent.',
    advice: 'Check the network and SERVICE_BASE_URL. Held work continues automatically.',
  },
  service_down: {
    ...FOUND_BY_US,
    meaning: 'The service did not answer earlier requests, so nothing was sent.',
    advice:
      'No action: one purchase at a time tests the service. When it answers, the others follow, oldest first. ' +
      '`release` sends this one now.',
  },
  spend_limit_reached: {
    ...FOUND_BY_US,
    meaning: 'The price is more than what is left of a daily spending limit.',
    advice:
      'If the price alone is above the limit, raise the limit: gate.spend_limit, or that of the API key. Otherwise ' +
      'it continues on the next day (UTC), or after the limit was raised.',
  },
  purchases_paused: {
    ...FOUND_BY_US,
    meaning:
      'Buying is paused: by an operator, or by the product, until the shapes of the answers have been seen or ' +
      'because paid deliveries could not be used.',
    advice:
      'See `GET /v1/purchase-gate` for the reason. It continues when the pause or the stop ends; `release` sends ' +
      'this one now, past a pause.',
  },
} as const satisfies Record<string, typeof HELD & { readonly meaning: string; readonly advice: string }>;
