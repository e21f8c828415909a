/** The only place that tells "not filled yet" from "wrong" in an answer of the service. */

const PLACEHOLDERS: ReadonlySet<string> = new Set(
  (
    'pending processing provisioning inprogress queued waiting awaiting generating creating ' +
    'na n/a none null nil undefined empty unknown tbd tba notset notyet notready ' +
    'notavailable notavailableyet unavailable notassigned unassigned'
  ).split(' '),
);

/** Absent, empty, zero, a word such as `PENDING`, an activation code without content, and a list of such values. */
export function isNotThereYet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0) return true;
  if (typeof value === 'string') return isPlaceholder(value);
  if (typeof value !== 'object') return false;
  return Object.values(value).every(isNotThereYet);
}

function isPlaceholder(text: string): boolean {
  const parts = text
    .trim()
    .replace(/^LPA:1(?=\$)/i, '')
    .split('$')
    .map((part) =>
      part
        .toLowerCase()
        .replaceAll(/[\s_.…-]/g, '')
        .replace(/^[<([{]+|[>)\]}]+$/g, ''),
    );
  // One such word in an activation code is enough. Its matching id may be empty.
  return parts.some((part) => PLACEHOLDERS.has(part)) || parts.every((part) => /^0*$/.test(part));
}
