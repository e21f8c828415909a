import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { TokenResult } from '#upstream/client/session.ts';

/** @param result result of a fresh login: the token that the processes share could hide a wrong password. */
export function checkLogin(result: TokenResult, { mode }: ServiceConfig): Finding {
  if (result.ok) return ok(`the service accepts the login (${mode})`);
  return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
}

/** Removes the full stop of a sentence, so that the line can continue. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
