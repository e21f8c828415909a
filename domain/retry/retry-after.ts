// A shorter wait would make a busy loop of "0". A longer wait is repeated after an hour.
const MIN_MS = 1_000;
const MAX_MS = 3_600_000;

// The only date that senders may use; Date.parse accepts much more.
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * RFC 9110, section 10.2.3; of several values the longest is taken.
 * @returns milliseconds, between a second and an hour; undefined when there is no readable value.
 */
export function retryAfterMs(value: string | readonly string[] | undefined, now: number): number | undefined {
  const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const waits = values.map((text) => waitOf(text.trim(), now)).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.min(MAX_MS, Math.max(MIN_MS, ...waits));
}

function waitOf(text: string, now: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - now;
}
