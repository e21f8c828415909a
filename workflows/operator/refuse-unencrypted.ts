/**
 * Refuses what reaches a workflow without encryption: anybody who can speak to the Temporal server, such as a web page
 * that an operator's browser shows, could have sent it. The worker's codec has put a mark in the place of each such
 * payload (`domain/service/refused-payload.ts`). Bundled with the workflows as an interceptor of all of them.
 */
import { ApplicationFailure } from '@temporalio/common';
import { log, type WorkflowInboundCallsInterceptor, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { refusalAmong, type PayloadRefusal } from '#domain/service/refused-payload.ts';
import { ACTION_REFUSED, operatorActedSignal, UNENCRYPTED_INPUT } from '#workflows/messages.ts';

/** Signals that carry no data: all they do is have the workflow read PostgreSQL once more. Others need an argument. */
const SIGNALS_WITHOUT_DATA: ReadonlySet<string> = new Set([operatorActedSignal.name]);

const REASONS: Readonly<Record<PayloadRefusal, string>> = {
  not_encrypted: 'it is not encrypted, so nothing proves who sent it',
  altered: 'its encryption does not open, so nothing proves who sent it',
};

const INSTEAD =
  'In the Temporal UI, set the address of the codec server (the glasses icon at the top right) and send it again; ' +
  'or use `npx reseller temporal`, `npx reseller orders` or the API.';

const encryptedOnly: WorkflowInboundCallsInterceptor = {
  /** A start with plain input ends the run as failed: the work is then started again from PostgreSQL. */
  execute: async (input, next) => {
    const refusal = refusalAmong(input.args);
    if (refusal === undefined) return next(input);
    throw ApplicationFailure.nonRetryable(`The input is refused: ${REASONS[refusal]}.`, UNENCRYPTED_INPUT);
  },

  /** Runs before the server accepts the update, so that nothing of a refused one is in the history. */
  validateUpdate: (input, next) => {
    const refusal = refusalAmong(input.args);
    if (refusal === undefined) return next(input);
    throw ApplicationFailure.nonRetryable(`The update is refused: ${REASONS[refusal]}. ${INSTEAD}`, ACTION_REFUSED);
  },

  /** Drops the signal. An error here would fail the workflow task, again and again. */
  handleSignal: async (input, next) => {
    const refusal = refusalAmong(input.args);
    const isEmpty = input.args.length === 0 && !SIGNALS_WITHOUT_DATA.has(input.signalName);
    if (refusal === undefined && !isEmpty) return next(input);
    const reason = refusal === undefined ? 'it has no argument' : REASONS[refusal];
    log.warn('a signal was dropped', { signal: input.signalName, reason });
  },
};

/** Found by this name in the bundle: `worker/workflow-sources.ts`. Queries change nothing and pass. */
export const interceptors: WorkflowInterceptorsFactory = () => ({ inbound: [encryptedOnly] });
