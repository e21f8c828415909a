/** Every wait has one of these names, and a recorded history contains each (`test/workflow/recorded-ways.test.ts`). */

type Part = string | number;

/** The parts are numbers of attempts, failure classes and reasons of cases. */
export const WAIT_NAMES = {
  hold: (failure: Part, hold: Part) => `Held (${failure}), hold ${hold}` as const,
  gate: (failure: Part) => `Held at the gate (${failure})` as const,
  resend: (attempt: Part, failure: Part) => `Resend attempt ${attempt} (${failure})` as const,
  otherSend: () => 'Another send of this attempt may still be under way' as const,
  lookUp: (attempt: Part) => `Look up attempt ${attempt} again` as const,
  service: () => 'The service works on it' as const,
  completion: (missing: Part, reason: Part) => `Read the ${missing} again (${reason})` as const,
  refund: () => 'Until the refund is decided' as const,
  wallet: (read: Part) => `Before read ${read} of the wallet` as const,
  evidence: (attempt: Part) => `Until a reading proves what attempt ${attempt} cost` as const,
  nextAttempt: (attempt: Part) => `Before attempt ${attempt}` as const,
  unjudgedReport: () => 'Until a report of the service is processed' as const,
  notBegun: (attempt: Part) => `Until the send of attempt ${attempt} is tried again` as const,
  notAnswered: (reason: Part) => `Until the next look-up (${reason})` as const,
  missingRow: () => 'Until its lost row is stored again' as const,
  absence: (attempt: Part) => `Before the proof of absence of attempt ${attempt}` as const,
  person: (reason: Part) => `Waits for a person (${reason})` as const,
  endOfTime: () => 'Active until its time is over' as const,
  subscriptionRead: (failure: Part) => `Look the subscription up again (${failure})` as const,
  cancelRequest: (failure: Part) => `Request the cancellation again (${failure})` as const,
  cancelled: () => 'Until the service confirms the cancellation' as const,
  delivery: () => 'Until the next delivery is due' as const,
  failedDelivery: () => 'Until the failed delivery is tried again' as const,
  failingEndpoint: () => 'The endpoint fails: until it is tried again' as const,
};

export type WaitName = ReturnType<(typeof WAIT_NAMES)[keyof typeof WAIT_NAMES]>;
