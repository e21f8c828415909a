import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

/** Imports of what can open a connection, and calls that do. */
const OPENS = /^import (?!type ).*from '(?:undici|node:(?:https?|http2|net|tls|dgram))'|\bfetch\(|\bWebSocket\(/m;
/** These listen, they do not call. */
const LISTENERS = new Set(['simulator/service/server.ts']);

it('opens connections only to send webhooks', () => {
  const opening = globSync('simulator/**/*.ts', { cwd: PROJECT }).filter((file) =>
    OPENS.test(readFileSync(join(PROJECT, file), 'utf8')),
  );
  expect(opening.filter((file) => !LISTENERS.has(file))).toEqual(['simulator/webhooks/queue.ts']);
});
