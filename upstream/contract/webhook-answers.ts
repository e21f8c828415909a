/** Our answers where the specification leaves the rules of webhooks open; `docs/assumptions.md` lists them. */
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';

/** Our answer to a delivery that the specification does not fully settle. */
export interface WebhookAnswer {
  readonly delivery: string;
  readonly answer: string;
  readonly reason: string;
}

export const WEBHOOK_ANSWERS: readonly WebhookAnswer[] = [
  {
    delivery: 'known delivery id, same body',
    answer: '200, no effect',
    reason:
      'The specification says that a receiver "rejects duplicates". We reject the effect, not the request: the event ' +
      'was accepted before, and 2xx confirms that. After any other answer the service sends again, or may disable ' +
      'the address.',
  },
  {
    delivery: 'known delivery id, another body',
    answer: '200; stored, processed, and reported as a case',
    reason:
      'The delivery id is not signed. An attacker who has seen one delivery could send it under the id of a later ' +
      'one. If the second body were rejected, the genuine event would be lost.',
  },
  {
    delivery: 'known timestamp and body, another delivery id',
    answer: '200, no effect',
    reason: 'The signed content is the same, so it is a replay. It is stored as one.',
  },
  {
    delivery: 'event header that differs from the signed body, or is missing',
    answer: '200; the body decides',
    reason: 'The header is not signed. A difference is logged and counted.',
  },
  {
    delivery: `timestamp ${WEBHOOK_TOLERANCE_SECONDS}.001 to ${WEBHOOK_TOLERANCE_SECONDS}.999 seconds old`,
    answer: '401',
    reason:
      'The specification does not say whether the current time counts with its fraction of a second. It does here: ' +
      `we take "by more than ${WEBHOOK_TOLERANCE_SECONDS} seconds" literally. The timestamp is in whole seconds.`,
  },
  {
    delivery: 'no delivery id, or one that is empty, longer than 255 characters or not visible ASCII',
    answer: '400, nothing stored',
    reason:
      'The specification does not say what an id looks like. Without an id we cannot recognise a duplicate, so we do ' +
      'not accept the delivery.',
  },
];
