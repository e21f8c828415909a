import type * as z from 'zod';
import { nearNames } from '#domain/text.ts';
import { compareAnswer } from '#upstream/contract-check/answers.ts';
import { jsonContent, wireSchema } from '#upstream/contract-check/calls.ts';
import { type Comparison, followed, valuesIn } from '#upstream/contract-check/comparison.ts';
import {
  type JsonObject,
  NotComparable,
  at,
  entriesAt,
  isObject,
  resolved,
} from '#upstream/contract-check/document.ts';
import { Findings, type Needs } from '#upstream/contract-check/findings.ts';
import { formsOf } from '#upstream/contract-check/schemas.ts';
import {
  EVENT_KINDS,
  EVENT_NAME_FIELDS,
  EVENT_SUBJECTS,
  type EventKind,
  eventData,
  eventEnvelope,
  eventSubject,
} from '#upstream/contract.ts';

export interface DescribedEvent {
  readonly key: string;
  readonly item: unknown;
  readonly operation: JsonObject;
  readonly body: { readonly schema: unknown } | undefined;
  readonly kinds: readonly string[] | undefined;
}

export interface ComparedEvent {
  readonly event: EventKind;
  readonly status: 'described' | 'missing' | 'undocumented';
  readonly findings: Findings;
}

// `event` is not compared: it found the webhook, and documents may list one name, all or none.
const EVENT_BODIES: ReadonlyMap<EventKind, z.ZodType> = new Map(
  EVENT_KINDS.map((kind) => {
    const data = eventData(kind);
    return [kind, data === undefined ? eventEnvelope : eventEnvelope.extend({ data })];
  }),
);

/** Before OpenAPI 3.1 they can only be in an extension. */
export function describedEvents(document: JsonObject, findings: Findings): readonly DescribedEvent[] {
  const webhooks = [...entriesAt(document, 'webhooks'), ...entriesAt(document, 'x-webhooks')];
  return webhooks.flatMap(([key, raw]) => {
    const eventsOf = (): readonly DescribedEvent[] => {
      const item = resolved(document, raw);
      const operation = resolved(document, at(item, 'post'));
      if (!isObject(operation)) return [];
      const body = jsonContent(document, resolved(document, at(operation, 'requestBody')));
      if (body === undefined) return [{ key, item, operation, body, kinds: undefined }];
      const described = { key, item, operation, body, kinds: kindsIn(document, body.schema) };
      return [described, ...variantsOf(document, described, body.schema)];
    };
    return followed(findings, 'events', key, eventsOf) ?? [];
  });
}

function variantsOf(document: JsonObject, described: DescribedEvent, schema: unknown): readonly DescribedEvent[] {
  const mapping = entriesAt(at(resolved(document, schema), 'discriminator'), 'mapping');
  return mapping.flatMap(([kind, target]) => {
    if (typeof target !== 'string') return [];
    const $ref = target.includes('/') ? target : `#/components/schemas/${target}`;
    return [{ ...described, key: kind, body: { schema: { $ref } }, kinds: [kind] }];
  });
}

function kindsIn(document: JsonObject, schema: unknown): readonly string[] | undefined {
  try {
    const forms = formsOf(document, schema);
    const named = EVENT_NAME_FIELDS.map((name) => {
      const fields = forms.filter(({ properties }) => properties.has(name));
      return valuesIn(fields.flatMap(({ properties }) => formsOf(document, properties.get(name))));
    }).filter((values) => values !== undefined);
    return named.length === 0 ? undefined : named.flat().filter((value) => typeof value === 'string');
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    // The comparison of the body reports it.
    return undefined;
  }
}

/** A document that describes events names all that are sent. One without any says nothing about them. */
export function compareEvents(document: JsonObject, events: readonly DescribedEvent[], needs: Needs): ComparedEvent[] {
  const ofOurs = new Set(EVENT_KINDS.flatMap((kind) => find(events, kind)?.described ?? []));
  const strangers = events.filter((event) => !ofOurs.has(event)).flatMap(({ key, kinds = [] }) => [key, ...kinds]);
  return EVENT_KINDS.map((event) => {
    const findings = new Findings();
    if (events.length === 0) return { event, status: 'undocumented', findings };
    const found = find(events, event);
    if (found === undefined) {
      const severity = event === 'ping' ? 'note' : 'breaking';
      findings[severity]('events', undefined, 'is not among the events of the document', nearNames(event, strangers));
      return { event, status: 'missing', findings };
    }
    if (found.otherNames.length > 0) {
      findings.breaking('events', undefined, 'has another name in the body', found.otherNames);
    }
    const { body } = found.described;
    if (body === undefined) {
      findings.note('answer', undefined, 'has no body that is described as JSON');
      return { event, status: 'undocumented', findings };
    }
    const subject = eventSubject(event);
    const comparison: Comparison = {
      document,
      findings,
      // A note: the specification does not state the layout of `data` either.
      undescribedAnswer: 'note',
      record: subject === undefined ? 'document' : EVENT_SUBJECTS[subject].record,
      isEvent: true,
      event,
      hasLinkHeader: false,
      source: { role: 'event', isWhole: false, searchedBy: [] },
      needs,
    };
    const ours = wireSchema(EVENT_BODIES.get(event) ?? eventEnvelope);
    followed(findings, 'answer', undefined, () => compareAnswer(comparison, ours, body.schema));
    return { event, status: 'described', findings };
  });
}

/** The key is no part of what the service sends; it counts only without a described body. */
function find(events: readonly DescribedEvent[], kind: EventKind) {
  const byBody = events.filter(({ kinds }) => kinds?.includes(kind) === true);
  const byKey = events.filter(({ key }) => plain(key) === plain(kind));
  const alone = byBody.find(({ kinds }) => kinds?.length === 1) ?? byBody[0];
  const described = byBody.find((event) => byKey.includes(event)) ?? alone ?? byKey[0];
  if (described === undefined) return undefined;
  return { described, otherNames: byBody.length > 0 ? [] : (described.kinds ?? []) };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}
