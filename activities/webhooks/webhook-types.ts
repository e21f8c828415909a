/** How a round of sending to one webhook endpoint ended. */
export type DeliveryRound =
  /** Nothing waits any more. */
  | { readonly kind: 'idle' }
  /** It gets nothing any more, and what waited was given up. */
  | { readonly kind: 'ended'; readonly why: 'deleted' | 'disabled' }
  | {
      readonly kind: 'waiting';
      /** When the next is due; epoch milliseconds. */
      readonly nextAt: number;
      /** Deliveries that wait; counted up to 10,000. */
      readonly pending: number;
      /** Set while tries only fail. */
      readonly failing?: EndpointFailure;
    };

interface EndpointFailure {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Tries in a row. */
  readonly failures: number;
  /** A clause such as "it answered 503". */
  readonly last: string;
  /** True when it gets one delivery at a time, to find out when that is over. */
  readonly isHeld: boolean;
}

/** The activity that delivers events to webhook endpoints. */
export interface WebhookActivities {
  /**
   * Sends what is due for an endpoint, for some seconds, and writes down each try. Deliveries are leased, so that a
   * second execution sends nothing of what the first has in hand; what a worker that died had in hand is sent once
   * more.
   */
  deliverDue(input: { readonly endpointId: string }): Promise<DeliveryRound>;
}
