/**
 * What we announce to internal systems: the closed set of event types. An event says that something has changed and
 * names it; what it is like now is read from its resource. Nothing personal is in an event, and no secret.
 */
import { REFUND_STATUSES, type RefundStatus } from '#domain/cancellation/refund.ts';
import { LIFECYCLES, statusesOf, type StatusOf } from '#domain/work/lifecycle.ts';
import { WORK_KINDS, KINDS, type WorkKind } from '#domain/work/work.ts';

/**
 * That a request is on its way is over in a moment, and comes once more with each attempt: nobody needs to hear of it.
 */
const UNANNOUNCED = 'submitting';

/** Of what each status is announced. */
export type StatusKind = WorkKind | 'refund';

/** The statuses of a kind that are announced. */
export type AnnouncedStatus<Kind extends StatusKind> = Kind extends WorkKind
  ? Exclude<StatusOf<Kind>, typeof UNANNOUNCED> & string
  : RefundStatus;

/** The types that tell of a status of this kind. */
export type StatusEventType<Kind extends StatusKind> = { [Each in Kind]: `${Each}.${AnnouncedStatus<Each>}` }[Kind];

/** What is announced beside the statuses of work and refunds. */
const OTHER_EVENTS = {
  'wallet.balance_low': 'The balance of the wallet is below the least that was set.',
  'wallet.balance_restored': 'The balance of the wallet is no longer below the least that was set.',
  'esim.data_low':
    'The data of the eSIM that is left has come down to a threshold. Once for each threshold, and again after a ' +
    'top-up.',
  'esim.expiring': 'The time of the eSIM is about to end. Once for each threshold, and again after a top-up.',
  'vpn_subscription.expiring': 'The time of the VPN subscription is about to end. Once for each threshold and period.',
  'wallet.runway_low': 'At the pace of recent sales, the wallet lasts shorter than was set as its least.',
  'wallet.runway_restored': 'At the pace of recent sales, the wallet lasts long enough again.',
  'webhook_endpoint.disabled': 'A webhook endpoint was disabled by us: it had failed for too long, or was gone.',
  'webhook_endpoint.test': 'Somebody asked for a test of a webhook endpoint. Sent to that endpoint alone.',
} as const;

export type EventType = StatusEventType<StatusKind> | keyof typeof OTHER_EVENTS;

/** Of what an event can speak. */
export type EventSubjectKind = WorkKind | 'refund' | 'wallet' | 'esim' | 'webhook_endpoint';

/** What an event speaks of: a resource of ours by its id; of what there is one of, the id is its name. */
export interface EventSubject {
  readonly kind: EventSubjectKind;
  readonly id: string;
}

const STATUS_MEANINGS = {
  accepted: 'was accepted and stored',
  held: 'waits for something that passes by itself',
  processing: 'was taken up by the service',
  completed: 'is completed',
  failed: 'has failed; nothing was bought',
  needs_attention: 'waits for a person',
  abandoned: 'was given up by an operator',
  active: 'is active',
  cancelling: 'is being cancelled',
  cancelled: 'is cancelled',
  expired: 'has expired',
  refused: 'was refused; the eSIM stays as it was',
} as const satisfies Record<Exclude<ReturnType<typeof statusesOf>[number], typeof UNANNOUNCED>, string>;

const REFUND_MEANINGS = {
  expected: 'is expected',
  manual_review: 'is reviewed by a person at the service',
  completed: 'is in the wallet',
  failed: 'will not come',
  needs_attention: 'waits for a person',
} as const satisfies Record<RefundStatus, string>;

/** The statuses of a kind that are announced, in the order of its table. */
export function announcedStatuses<Kind extends StatusKind>(
  kind: Kind,
): readonly [AnnouncedStatus<Kind>, ...AnnouncedStatus<Kind>[]] {
  const all: readonly string[] = kind === 'refund' ? REFUND_STATUSES : statusesOf(kind);
  // The type takes out the same one, and no kind has that alone.
  return all.filter((status) => status !== UNANNOUNCED) as unknown as readonly [
    AnnouncedStatus<Kind>,
    ...AnnouncedStatus<Kind>[],
  ];
}

/** The types that tell of a status of this kind, in the order of its table. */
export function statusEventTypes<Kind extends StatusKind>(
  kind: Kind,
): readonly [StatusEventType<Kind>, ...StatusEventType<Kind>[]] {
  return announcedStatuses(kind).map((status) => `${kind}.${status}`) as unknown as readonly [
    StatusEventType<Kind>,
    ...StatusEventType<Kind>[],
  ];
}

/** The type of event that tells of a status of work. @returns undefined where none does. */
export function workEventType(kind: WorkKind, status: string): EventType | undefined {
  if (status === UNANNOUNCED || !(status in LIFECYCLES[kind])) return undefined;
  // Every other status of the table has its type.
  return `${kind}.${status}` as EventType;
}

/** The types that speak of a kind of subject: a type begins with its name. */
export function typesOfSubject(kind: EventSubjectKind): readonly EventType[] {
  return eventTypes.filter((type) => type.startsWith(`${kind}.`));
}

/** Every type of event, with the sentence that documents it. */
export const EVENT_TYPES: Readonly<Record<EventType, string>> = Object.fromEntries([
  ...WORK_KINDS.flatMap((kind) =>
    announcedStatuses(kind).map((status) => [
      `${kind}.${status}`,
      `The ${KINDS[kind].noun} ${STATUS_MEANINGS[status]}.`,
    ]),
  ),
  ...REFUND_STATUSES.map((status) => [`refund.${status}`, `The refund ${REFUND_MEANINGS[status]}.`]),
  ...Object.entries(OTHER_EVENTS),
  // What `fromEntries` cannot tell: the three lists above are those of the type.
]) as Record<EventType, string>;

export const eventTypes = Object.keys(EVENT_TYPES) as readonly EventType[];
