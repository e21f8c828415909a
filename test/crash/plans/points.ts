/** The points at which the crash proof can kill a process. `> before`, `> after`, … are moments of one step. */

interface Steps {
  readonly commits?: number;
  /** Statements that write outside of a transaction. */
  readonly writes?: readonly string[];
  /** Calls of the service, or of Temporal. */
  readonly calls?: readonly string[];
  readonly handOvers?: readonly string[];
}

const WORKER: Readonly<Record<string, Steps>> = {
  beginWork: { commits: 1 },
  // Commits: the wallet for the purchase gate, the claim of the send, its outcome, the gate's circuits.
  sendPurchase: {
    commits: 5,
    calls: [
      'POST /orders',
      'POST /topups',
      'POST /vpn/orders',
      'POST /esims/{id}/cancel',
      // Reads before a send: the balance, the offer, the conditions of a refund.
      'GET /wallet',
      'GET /esims/{id}/topup-options',
      'GET /vpn/plans',
      'GET /esims/{id}/usage',
    ],
  },
  lookUpPurchase: { commits: 1, calls: ['GET /orders', 'GET /topups', 'GET /vpn/subscriptions', 'GET /esims/{id}'] },
  readDebitEvidence: { commits: 1, calls: ['GET /wallet/transactions'] },
  openNextAttempt: { commits: 1 },
  completePurchase: {
    commits: 2,
    calls: ['GET /esims/{id}', 'GET /wallet/transactions', 'GET /refunds/{id}', 'GET /vpn/subscriptions/{id}'],
  },
  recordStep: { commits: 1 },
  cancelSubscription: { commits: 2, calls: ['POST /vpn/subscriptions/{id}/cancel'] },
  reconcileSilentWork: {
    writes: ['update attempts', 'insert inbox'],
    calls: ['GET /orders/{id}', 'GET /topups/{id}', 'GET /vpn/subscriptions/{id}', 'GET /esims/{id}'],
  },
  reconcileBooks: { commits: 3, calls: ['GET /wallet/transactions'] },
  requestIdleWork: { commits: 1 },
  // Its commits (the claim of a delivery, the record of a try) have no fixed order.
  deliverDue: {
    writes: ['commit of update webhook_deliveries', 'commit of insert webhook_tries'],
    calls: ['POST /hook'],
  },
};

const RELAY: Steps = {
  // The last one belongs to the loop that releases held work, beside the relay.
  writes: [
    'update outbox',
    'delete outbox',
    'update inbox',
    'commit of update inbox',
    'commit of update events',
    'commit of delete gate_waits',
  ],
  handOvers: ['start', 'signalWithStart', 'wake endpoint'],
};

const API: Readonly<Record<string, Steps>> = {
  'POST /v1/orders': { commits: 1 },
  'POST /v1/topups': { commits: 1 },
  'POST /v1/esims/{id}/cancel': { commits: 1 },
  'POST /v1/vpn/subscriptions': { commits: 1 },
  'POST /v1/vpn/subscriptions/{id}/cancel': { commits: 1 },
  'POST /v1/orders/{id}/retry': { commits: 1 },
  'POST /webhooks/service': { writes: ['insert inbox'] },
};

function pointsOf(name: string, { commits = 0, writes = [], calls = [], handOvers = [] }: Steps): string[] {
  const steps = [...Array.from({ length: commits }, (_, index) => `commit ${index + 1}`), ...writes, ...handOvers];
  return [
    ...steps.flatMap((step) => [`${name} > ${step} > before`, `${name} > ${step} > after`]),
    ...calls.flatMap((call) => ['before', 'sent', 'answered'].map((moment) => `${name} > ${call} > ${moment}`)),
  ];
}

const activityPoints = ([name, steps]: [string, Steps]) => [
  `${name} > start`,
  ...pointsOf(name, steps),
  `${name} > end`,
];

export const POINTS = {
  worker: [...Object.entries(WORKER).flatMap(activityPoints), ...pointsOf('relay', RELAY)],
  api: Object.entries(API).flatMap(([name, steps]) => pointsOf(name, steps)),
} as const satisfies Record<string, readonly string[]>;

export type KilledProcess = keyof typeof POINTS;
