/** The result of a round of deliveries to one webhook endpoint. */
export type DeliveryRound =
  /** No delivery waits. */
  | { readonly kind: 'idle' }
  /** The endpoint is disabled or deleted, and its waiting deliveries were given up. */
  | { readonly kind: 'ended'; readonly reason: 'deleted' | 'disabled' }
  | {
      readonly kind: 'waiting';
      /** Time of the next delivery, in epoch milliseconds. */
      readonly nextAt: number;
      /** Waiting deliveries; counted up to 10,000. */
      readonly pending: number;
      /** Set while every try fails. */
      readonly failing?: EndpointFailure;
    };

interface EndpointFailure {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Failed tries in a row. */
  readonly failures: number;
  /** A clause such as "it answered 503". */
  readonly last: string;
  /** True when it gets one delivery at a time until one succeeds. */
  readonly isHeld: boolean;
}

/** The activity that delivers events to webhook endpoints. */
export interface WebhookActivities {
  /**
   * Sends the due deliveries of an endpoint for some seconds and records each try. Deliveries are leased, so a second
   * execution sends none that the first one holds. A delivery that a dead worker held is sent again.
   */
  deliverDue(input: { readonly endpointId: string }): Promise<DeliveryRound>;
}
