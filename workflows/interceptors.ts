/** The bundle looks for `interceptors` (`worker/bundle.ts`). */
import { ApplicationFailure, type Headers } from '@temporalio/common';
import { log, type WorkflowInboundCallsInterceptor, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { refusalAmong, type PayloadRefusal } from '#domain/service/refused-payload.ts';
import { ACTION_REFUSED, operatorActedSignal, TRACE_HEADER, UNENCRYPTED_INPUT } from '#workflows/messages.ts';

/** The workflow only reads PostgreSQL again for them. */
const SIGNALS_WITHOUT_DATA: ReadonlySet<string> = new Set([operatorActedSignal.name]);

const REASONS: Readonly<Record<PayloadRefusal, string>> = {
  not_encrypted: 'it is not encrypted, so nothing proves who sent it',
  altered: 'its encryption does not open, so nothing proves who sent it',
};

const INSTEAD =
  'In the Temporal UI, set the address of the codec server (the glasses icon at the top right) and send it again; ' +
  'or use `npx reseller temporal`, `npx reseller orders` or the API.';

/**
 * Any client of the Temporal server could send unencrypted payloads, also a web page in an operator's browser. The
 * codec marks each one (`domain/service/refused-payload.ts`). Queries change nothing and are not checked.
 */
const encryptedOnly: WorkflowInboundCallsInterceptor = {
  /** Fails the run. The sweeper starts the work again, with an encrypted input. */
  execute: async (input, next) => {
    const refusal = refusalAmong(input.args);
    if (refusal === undefined) return next(input);
    throw ApplicationFailure.nonRetryable(`The input is refused: ${REASONS[refusal]}.`, UNENCRYPTED_INPUT);
  },

  /** Runs before the server accepts the update: a refused update leaves nothing in the history. */
  validateUpdate: (input, next) => {
    const refusal = refusalAmong(input.args);
    if (refusal === undefined) return next(input);
    throw ApplicationFailure.nonRetryable(`The update is refused: ${REASONS[refusal]}. ${INSTEAD}`, ACTION_REFUSED);
  },

  /** Drops the signal: an error here would fail every following workflow task. */
  handleSignal: async (input, next) => {
    const refusal = refusalAmong(input.args);
    const isEmpty = input.args.length === 0 && !SIGNALS_WITHOUT_DATA.has(input.signalName);
    if (refusal === undefined && !isEmpty) return next(input);
    const reason = refusal === undefined ? 'it has no argument' : REASONS[refusal];
    log.warn('a signal was dropped', { signal: input.signalName, reason });
  },
};

export const interceptors: WorkflowInterceptorsFactory = () => {
  let trace: Headers = {};
  // Only a header is copied. No command, promise or random number changes, so histories replay with and without it.
  const withTrace = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  const keepsTrace: WorkflowInboundCallsInterceptor = {
    execute: (input, next) => {
      const header = input.headers[TRACE_HEADER];
      if (header !== undefined) trace = { [TRACE_HEADER]: header };
      return next(input);
    },
  };
  return {
    inbound: [encryptedOnly, keepsTrace],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
};
