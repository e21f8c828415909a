import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import { counted } from '#domain/text.ts';

/** @param problems of the whole configuration. */
export function checkConfiguration(problems: readonly string[]): Finding {
  if (problems.length === 0) return ok('API, worker and codec server can use it');
  return failure(
    `${counted(problems.length, 'problem')}: ${problems.join('; ')}`,
    'docs/configuration.md describes each variable.',
  );
}
