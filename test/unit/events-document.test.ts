import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventTypes } from '#domain/events.ts';
import { eventsDocument } from '#scripts/events-document.ts';
import { PROJECT } from '#test/support/compose.ts';

describe('docs/reference/events.md', () => {
  it('is what the event types say today; else run `npm run generate:events`', () => {
    expect(readFileSync(join(PROJECT, 'docs/reference/events.md'), 'utf8')).toBe(eventsDocument());
  });

  it('has a row for each type, and no other', () => {
    const rows = [...eventsDocument().matchAll(/^\| `([^`]+)` \|/gm)].map(([, type]) => type);
    const sorted = (types: readonly (string | undefined)[]) => types.map(String).toSorted((left, right) => left.localeCompare(right));
    expect(sorted(rows)).toEqual(sorted(eventTypes));
  });
});
