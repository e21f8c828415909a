import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** The scopes of one kind of work. */
export interface WorkScopes {
  readonly read: WorkScope;
  readonly write: WorkScope;
  readonly operate: WorkScope;
}

type WorkScope = `${(typeof KINDS)[WorkKind]['scope']}:${'read' | 'write' | 'operate'}`;

/** The scopes of a kind of work: `orders:read`, `orders:write`, `orders:operate`. */
export function scopesOfKind(kind: WorkKind): WorkScopes {
  const { scope } = KINDS[kind];
  return { read: `${scope}:read`, write: `${scope}:write`, operate: `${scope}:operate` };
}

/** The sentences about the scopes of each kind of work. */
function describeWorkScopes(): Readonly<Record<WorkScope, string>> {
  const entries = WORK_KINDS.flatMap((kind) => {
    const { noun, isPurchase } = KINDS[kind];
    const { read, write, operate } = scopesOfKind(kind);
    const actions = isPurchase
      ? `Retry, release and abandon ${noun}s, resolve their cases, and change their price limit`
      : `Retry and abandon ${noun}s, and resolve their cases`;
    return [
      [read, `Read ${noun}s and their timelines.`],
      [write, `Create ${noun}s${isPurchase ? ': spends money' : ''}.`],
      [operate, `${actions}: for operators. Each action is audited.`],
    ];
  });
  // One entry for each scope of each kind.
  return Object.fromEntries(entries) as Record<WorkScope, string>;
}

/** API scopes, each with the sentence that the documentation shows. */
export const API_SCOPES = {
  ...describeWorkScopes(),
  'cancellations:read': 'Read cancellations, refunds and their timelines.',
  'cancellations:write': 'Cancel eSIMs: the customer loses them.',
  'vpn:read': 'Read VPN plans, subscriptions and their timelines.',
  'vpn:write': 'Order VPN subscriptions, which spends money, and cancel them.',
  'vpn:reveal': "Read access data: their holder can use the customer's VPN. Each read is audited.",
  'gate:read': 'Read the purchase gate: circuits, pauses, what is reserved, spent and held.',
  'gate:operate': 'Pause buying, and release a pause: for operators. Each action is audited.',
  'cases:operate':
    'List and read what waits for a person, and close cases about deliveries: for operators. Each action is audited.',
  'audit:read': 'Read the audit log: who did what, when and why.',
  'esims:read': 'Read eSIMs and their installation facts.',
  'esims:write': 'Change the customer reference of eSIMs, and simulate phones in the sandbox. Each change is audited.',
  'esims:reveal':
    'Read activation codes and QR codes, and make and revoke share links to them: their holder can install the eSIM. ' +
    'Each read is audited.',
  'packages:read': 'Read packages, the prices charged to the reseller, and suggested selling prices.',
  'pricing:read': 'Read the rules that suggest selling prices, and try others.',
  'pricing:write': 'Make, change and end these rules. Each change is audited.',
  'events:read': 'Read events of everything, also as a stream.',
  'wallet:read': 'Read the wallet at the service.',
  'updates:read': 'Check for updates of the storefront application.',
  'webhook_endpoints:read': 'Read webhook endpoints and what was delivered to them.',
  'webhook_endpoints:write':
    'Create, change, test, replay and delete webhook endpoints: decides who receives events. Each action is audited.',
  'service:admin':
    'Create and rotate the webhook secret at the service. For administration only; each change is audited.',
} as const;

export type ApiScope = keyof typeof API_SCOPES;

export const apiScopes = Object.keys(API_SCOPES) as readonly ApiScope[];
