import { failure, type Finding, ok } from '#cli/doctor/finding.ts';

/** @param problems of the whole configuration. */
export function checkConfiguration(problems: readonly string[]): Finding {
  if (problems.length === 0) return ok('API, worker and codec server can use it');
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return failure(`${count}: ${problems.join('; ')}`, 'docs/configuration.md describes each variable.');
}
