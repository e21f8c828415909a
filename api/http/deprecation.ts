/** The policy: `docs/reference/versions.md`. */
export interface Deprecation {
  /** Such as `2030-01-31`. */
  readonly since: string;
  /** First day on which the call may be missing. */
  readonly removal: string;
  /** The end of a sentence, such as `` `GET /v1/orders` ``. */
  readonly instead: string;
}

const NOTICE_DAYS = 180;
const DAY_MS = 86_400_000;

/**
 * `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a link to the description, which names the call to use instead.
 * @throws RangeError when a day is invalid, or the notice is too short.
 */
export function deprecationHeaders({ since, removal }: Deprecation): Readonly<Record<string, string>> {
  const from = Date.parse(`${since}T00:00:00Z`);
  const until = Date.parse(`${removal}T00:00:00Z`);
  if (Number.isNaN(from) || Number.isNaN(until)) throw new RangeError(`${since} or ${removal} is no day`);
  if (until - from < NOTICE_DAYS * DAY_MS)
    throw new RangeError(`a call stays for at least ${NOTICE_DAYS} days after its deprecation`);
  return {
    Deprecation: `@${from / 1_000}`,
    Sunset: new Date(until).toUTCString(),
    Link: '</openapi.json>; rel="deprecation"; type="application/json"',
  };
}

export function deprecationNotice({ since, removal, instead }: Deprecation): string {
  return `Deprecated since ${since}; it may be missing from ${removal} on. Use ${instead}.`;
}
