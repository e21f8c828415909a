/** The closed set of event types. An event names what has changed; it holds no personal data and no secret. */
import { REFUND_STATUSES, type RefundStatus } from '#domain/cancellation/refund.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { LIFECYCLES, statusesOf, type StatusOf } from '#domain/work/lifecycle.ts';

/** Not announced: a request that is on its way ends in a moment and repeats with each attempt. */
const UNANNOUNCED = 'submitting';

export type StatusKind = WorkKind | 'refund';

type AnnouncedStatus<Kind extends StatusKind> = Kind extends WorkKind
  ? Exclude<StatusOf<Kind>, typeof UNANNOUNCED> & string
  : RefundStatus;

type StatusEventType<Kind extends StatusKind> = { [Each in Kind]: `${Each}.${AnnouncedStatus<Each>}` }[Kind];

const OTHER_EVENTS = {
  'order_batch.completed': 'The last order of the batch has ended: completed, failed or abandoned.',
  'wallet.balance_low': 'The balance of the wallet is below the threshold.',
  'wallet.balance_restored': 'The balance of the wallet is no longer below the threshold.',
  'esim.installed': 'A phone has installed the eSIM. Once for each eSIM.',
  'esim.activated': 'The eSIM is in use for the first time. Once for each eSIM.',
  'esim.data_low':
    'The remaining data of the eSIM has reached a threshold. Once for each threshold, and again after a top-up.',
  'esim.used_up': 'The data of the eSIM is used up. Once for each eSIM, and again after a top-up.',
  'esim.expiring': 'The eSIM is about to expire. Once for each threshold, and again after a top-up.',
  'esim.expired': 'The eSIM has expired. Once for each eSIM.',
  'vpn_subscription.renewed': 'The service has renewed the VPN subscription: its paid period ends later than before.',
  'vpn_subscription.expiring':
    'The paid period of the VPN subscription is about to end. Once for each threshold and period.',
  'wallet.runway_low': 'At the rate of recent sales, the wallet lasts for less time than the threshold.',
  'wallet.runway_restored': 'At the rate of recent sales, the wallet lasts at least as long as the threshold again.',
  'package.created': 'The service lists the package for the first time, or again.',
  'package.removed': 'The service no longer lists the package.',
  'package.unavailable': 'The service does not sell the package for now.',
  'package.available': 'The service sells the package again.',
  'package.price_changed': 'The service charges another price for the package.',
  'vpn_plan.created': 'The service lists the VPN plan for the first time, or again.',
  'vpn_plan.removed': 'The service no longer lists the VPN plan.',
  'vpn_plan.unavailable': 'The service does not sell the VPN plan for now.',
  'vpn_plan.available': 'The service sells the VPN plan again.',
  'vpn_plan.price_changed': 'The service charges another price for the VPN plan.',
  'webhook_endpoint.disabled': 'We disabled a webhook endpoint because it failed for too long or answered 410 (gone).',
  'webhook_endpoint.test': 'A test of a webhook endpoint was requested. It is sent to that endpoint only.',
} as const;

/** The event that corrects the end of work: its caller may have acted on that end. */
type DoubtEventType<Kind extends WorkKind = WorkKind> = { [Each in Kind]: `${Each}.in_doubt` }[Kind];

export type EventType = StatusEventType<StatusKind> | DoubtEventType | keyof typeof OTHER_EVENTS;

export type EventSubjectKind =
  | WorkKind
  | 'order_batch'
  | 'refund'
  | 'wallet'
  | 'esim'
  | 'package'
  | 'vpn_plan'
  | 'webhook_endpoint';

export interface EventSubject {
  readonly kind: EventSubjectKind;
  readonly id: string;
}

const STATUS_MEANINGS = {
  accepted: 'was accepted and stored',
  held: 'is held until an obstacle passes',
  processing: 'was accepted by the service',
  completed: 'is completed',
  failed: 'has failed; nothing was bought',
  needs_attention: 'waits for a person',
  abandoned: 'was abandoned by an operator',
  active: 'is active',
  cancelling: 'is being cancelled',
  cancelled: 'is cancelled',
  expired: 'has expired',
  refused: 'was refused; the eSIM is unchanged',
} as const satisfies Record<Exclude<ReturnType<typeof statusesOf>[number], typeof UNANNOUNCED>, string>;

const REFUND_MEANINGS = {
  expected: 'is expected',
  manual_review: 'is reviewed by a person at the service',
  completed: 'is in the wallet',
  failed: 'will not come',
  needs_attention: 'waits for a person',
} as const satisfies Record<RefundStatus, string>;

export function announcedStatuses<Kind extends StatusKind>(kind: Kind): readonly AnnouncedStatus<Kind>[] {
  const all: readonly string[] = kind === 'refund' ? REFUND_STATUSES : statusesOf(kind);
  return all.filter((status): status is AnnouncedStatus<Kind> => status !== UNANNOUNCED);
}

// The compiler does not connect a template of a type parameter with the mapped type.
export function statusEventTypes<Kind extends StatusKind>(kind: Kind): readonly StatusEventType<Kind>[] {
  return announcedStatuses(kind).map((status) => `${kind}.${status}` as StatusEventType<Kind>);
}

export function workEventTypes<Kind extends WorkKind>(kind: Kind) {
  return [...statusEventTypes(kind), `${kind}.in_doubt` as DoubtEventType<Kind>];
}

export function workEventType(kind: WorkKind, status: string): EventType | undefined {
  if (status === UNANNOUNCED || !(status in LIFECYCLES[kind])) return undefined;
  return `${kind}.${status}` as EventType;
}

export function typesOfSubject(kind: EventSubjectKind): readonly EventType[] {
  return eventTypes.filter((type) => type.startsWith(`${kind}.`));
}

export const EVENT_TYPES: Readonly<Record<EventType, string>> = Object.fromEntries([
  ...WORK_KINDS.flatMap((kind) =>
    announcedStatuses(kind).map((status) => [
      `${kind}.${status}`,
      `The ${KINDS[kind].noun} ${STATUS_MEANINGS[status]}.`,
    ]),
  ),
  ...WORK_KINDS.map((kind) => [
    `${kind}.in_doubt`,
    `The ${KINDS[kind].noun} had ended, and a later report or a debit of the service contradicts its end; a case is ` +
      'open.',
  ]),
  ...REFUND_STATUSES.map((status) => [`refund.${status}`, `The refund ${REFUND_MEANINGS[status]}.`]),
  ...Object.entries(OTHER_EVENTS),
]) as Record<EventType, string>;

export const eventTypes = Object.keys(EVENT_TYPES) as readonly EventType[];

/** Sent to one endpoint alone when a caller requests it, whatever the filter of the endpoint is. */
export const TEST_EVENT = 'webhook_endpoint.test' satisfies EventType;

const ALL = '*';

export const eventPatterns: ReadonlySet<string> = new Set([ALL, ...eventTypes.map(familyOf), ...eventTypes]);

export function isEventPattern(pattern: string): boolean {
  return eventPatterns.has(pattern);
}

export function selects(patterns: readonly string[], type: EventType): boolean {
  return patterns.includes(ALL) || patterns.includes(type) || patterns.includes(familyOf(type));
}

function familyOf(type: string): string {
  return `${type.slice(0, type.indexOf('.'))}.${ALL}`;
}
