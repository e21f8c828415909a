/** Seconds a webhook's timestamp may differ from the receiver's clock, either way (specification, Limits). */
export const WEBHOOK_TOLERANCE_SECONDS = 300;
