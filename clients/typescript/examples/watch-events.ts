/**
 * Prints events as they happen. After a restart it continues after the last printed event: the given file stores the
 * position. Run it beside `npm start`, from the root of the project:
 *
 *   npx node clients/typescript/examples/watch-events.ts .data/watched
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isProblem, ResellerClient } from '../src/index.ts';

const client = new ResellerClient({
  baseUrl: process.env['RESELLER_URL'] ?? 'http://127.0.0.1:3000',
  apiKey: process.env['RESELLER_API_KEY'] ?? readFileSync('.data/dev-api-key', 'utf8').trim(),
});

/** A shop stores the position in its database, in the same transaction as the effects of the event. */
const place = process.argv[2];
const cursor = place !== undefined && existsSync(place) ? readFileSync(place, 'utf8') : undefined;

const onDisconnect = ({ message }: Error, nextInMs: number) =>
  console.error(`${message}; next try in ${Math.round(nextInMs / 1_000)} s`);
console.error(`Waiting for ${cursor === undefined ? 'new events' : 'events after the last one'}; Ctrl-C ends it.`);
const events = client.streamEvents({ cursor }, { onDisconnect });
try {
  for await (const { created_at: at, type, subject } of events) {
    console.log(`${at}  ${type}  ${subject.href}`);
    // Stored after the event was processed: after a crash, it comes again.
    if (place !== undefined && events.cursor !== undefined) writeFileSync(place, events.cursor);
  }
} catch (error) {
  if (!isProblem(error, 'cursor_expired')) throw error;
  console.error(
    `The API has deleted events after ${cursor}. Read the lists of the resources that you follow, remove ${place}, ` +
      'and start again.',
  );
  process.exitCode = 1;
}
