import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { TokenResult } from '#upstream/client/session.ts';

/** @param result of a login of our own: the token that the processes share could hide that the password is wrong. */
export function checkLogin(result: TokenResult, { mode }: ServiceConfig): Finding {
  if (result.ok) return ok(`the service lets us in (${mode})`);
  return failure(withoutStop(result.detail), FAILURE_CLASSES[result.failure].advice);
}

/** A sentence as a clause, for a line that goes on. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
