/**
 * Says what happens from now on, as it happens, and goes on where it was when it is started again: from the first event
 * on, how far it is stands in the file that is named. Run it beside `npm start`, from the root of the project:
 *
 *   npx node clients/typescript/examples/watch-events.ts .data/watched
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isProblem, ResellerClient } from '../src/index.ts';

const client = new ResellerClient({
  baseUrl: process.env['RESELLER_URL'] ?? 'http://127.0.0.1:3000',
  apiKey: process.env['RESELLER_API_KEY'] ?? readFileSync('.data/dev-api-key', 'utf8').trim(),
});

/**
 * Where it is kept how far this program is; a shop has a row of its database for that, written with what an event
 * brings about.
 */
const place = process.argv[2];
const cursor = place !== undefined && existsSync(place) ? readFileSync(place, 'utf8') : undefined;

const onDisconnect = ({ message }: Error, nextInMs: number) =>
  console.error(`${message}; next try in ${Math.round(nextInMs / 1_000)} s`);
const events = client.streamEvents({ cursor }, { onDisconnect });
try {
  for await (const { created_at: at, type, subject } of events) {
    console.log(`${at}  ${type}  ${subject.href}`);
    // Only now: an event that this program dies over comes again.
    if (place !== undefined && events.cursor !== undefined) writeFileSync(place, events.cursor);
  }
} catch (error) {
  if (!isProblem(error, 'cursor_expired')) throw error;
  console.error(
    `Events that came after ${cursor} are not kept any more. Read the lists of what you keep track of, remove ` +
      `${place}, and begin anew.`,
  );
  process.exitCode = 1;
}
