import { EXAMPLE_ADDRESS } from '#api/problems/problem-schema.ts';
import { SHARE_EXAMPLE_SECRET, SHARE_EXAMPLE_URL } from '#api/share-links/share-link-schemas.ts';
import type { Exchange } from '#test/documentation/described-client.ts';

/** Operations whose body is not an example, because it changes with every release. */
const WITHOUT_BODY = new Set(['getOpenApi']);
/** The headers of answers in examples. */
const KEPT_HEADERS = new Set(['location', 'idempotent-replayed', 'retry-after', 'www-authenticate', 'allow']);
/** Maximum number of list items in an example. */
const SHOWN_ITEMS = 2;

const ULID = /\b([a-z]{2,7})_([0-9A-HJKMNP-TV-Z]{26})\b/g;
const UUID = /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
/** Secrets of the recorded run are replaced, so that they do not look like a leak. */
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9+/]+=*/g;
/** Ids of quotes are encrypted, so each recording has others. */
const QUOTE = /\bquo_[\w-]+/g;
/** The address and the secrets of share links. */
const SHARE_ADDRESS = /\bhttp:\/\/127\.0\.0\.1:\d+(?=\/e\/)/g;
const SHARE_SECRET = /(?<=\/e\/)[0-9A-Za-z]{32}\b/g;
/** The address of the recorded run, in links to the pages of problems. */
const PROBLEM_PAGE = /\bhttp:\/\/127\.0\.0\.1:\d+(?=\/problems\/)/g;
const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;
/** The time of the first call in the examples. */
const EPOCH = Date.UTC(2030, 0, 31, 12);

interface ExampleIds {
  /** Example ids of the description, by the id of this run that they replace. */
  readonly shown: ReadonlyMap<string, string>;
}

/** Also as a parameter, without the address around it. */
function withoutShareSecrets(text: string): string {
  const secrets = new Set([...text.matchAll(SHARE_SECRET)].map(([secret]) => secret));
  return [...secrets].reduce((rest, secret) => rest.replaceAll(secret, SHARE_EXAMPLE_SECRET), text);
}

/**
 * Converts recorded calls to examples. Ids, request ids and times are replaced consistently by fixed values, so that a
 * new recording differs only where the product has changed.
 */
export function publishable(exchanges: readonly Exchange[], { shown }: ExampleIds): unknown {
  const kept = exchanges.map(({ operation, request, response }) => ({
    operation,
    request: {
      method: request.method,
      path: request.path,
      params: request.params,
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    response: {
      status: response.status,
      headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => KEPT_HEADERS.has(name))),
      ...(response.body === undefined || WITHOUT_BODY.has(operation) ? {} : { body: shortened(response.body) }),
    },
  }));
  const text = withoutShareSecrets(JSON.stringify(kept, undefined, 1));
  const ids = new Map(shown);
  const times = fixedTimes([...text.matchAll(TIME)].map(([time]) => time));
  let uuids = 0;
  const fixedUuids = new Map<string, string>();
  const published = text
    .replaceAll(ULID, (id, prefix: string) =>
      remember(ids, id, () => `${prefix}_01JQ8Z${String(ids.size).padStart(20, '0')}`),
    )
    .replaceAll(UUID, (uuid) =>
      remember(fixedUuids, uuid, () => `00000000-0000-4000-8000-${String((uuids += 1)).padStart(12, '0')}`),
    )
    .replaceAll(WEBHOOK_SECRET, 'whsec_0Ya0a2Hc1Yy1m3T0z0m0Yk1uQm5oR2d4a1Z2d0p5bTQ=')
    .replaceAll(SHARE_ADDRESS, SHARE_EXAMPLE_URL)
    .replaceAll(PROBLEM_PAGE, EXAMPLE_ADDRESS)
    .replaceAll(QUOTE, 'quo_AQRkZXYxvT0kz2m1')
    .replaceAll(TIME, (time) => times.get(time) ?? time)
    .replaceAll(/"20\d\d-\d\d-\d\d"/g, JSON.stringify(new Date(EPOCH).toISOString().slice(0, 10)));
  return JSON.parse(published);
}

function remember(known: Map<string, string>, key: string, make: () => string): string {
  const fixed = known.get(key) ?? make();
  known.set(key, fixed);
  return fixed;
}

/**
 * Fixed times. Times of the run keep their order, one second apart. Other times, such as the end of a subscription,
 * keep their distance in whole days.
 */
function fixedTimes(times: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(times)].toSorted();
  const milliseconds = sorted.map((time) => Date.parse(time));
  const start =
    milliseconds.find((time, index) => (milliseconds[index + 1] ?? Infinity) - time < 60_000) ?? milliseconds[0] ?? 0;
  let ofTheRun = 0;
  return new Map(
    sorted.map((time, index) => {
      const distance = (milliseconds[index] ?? 0) - start;
      const isOfTheRun = distance >= 0 && distance < 600_000;
      const fixed = isOfTheRun
        ? EPOCH + 1_000 * (ofTheRun += 1)
        : EPOCH + 86_400_000 * Math.round(distance / 86_400_000);
      return [time, new Date(fixed).toISOString()];
    }),
  );
}

function shortened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('data' in value) || !Array.isArray(value.data)) return value;
  return { ...value, data: value.data.slice(0, SHOWN_ITEMS) };
}
