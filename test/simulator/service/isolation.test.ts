import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, readSubpaths, typeScriptFiles } from '#scripts/boundaries/import-graph.ts';
import { PROJECT } from '#test/support/compose.ts';

/** The parts of Node and of npm that can open a connection. */
const OPENERS = new Set(['undici', 'node:http', 'node:https', 'node:http2', 'node:net', 'node:tls', 'node:dgram']);
/** These listen, they do not call. */
const LISTENERS = new Set(['simulator/service/server.ts']);

describe('the simulator', () => {
  it('opens connections only to send webhooks', () => {
    const files = typeScriptFiles(PROJECT, 'simulator');
    expect(files.length).toBeGreaterThan(50);
    const subpaths = readSubpaths(PROJECT);
    const callers = files.filter((file) => {
      const opens = importsOf(PROJECT, file, subpaths).some(
        ({ kind, specifier }) => kind !== 'type' && OPENERS.has(specifier),
      );
      return opens || /\bfetch\(|\bWebSocket\(/.test(readFileSync(join(PROJECT, file), 'utf8'));
    });
    expect(callers.filter((file) => !LISTENERS.has(file))).toEqual(['simulator/webhooks/dispatcher.ts']);
  });
});
