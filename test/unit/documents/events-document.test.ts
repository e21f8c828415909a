import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventShapes } from '#api/events/event-data.ts';
import { eventTypes, type EventType } from '#domain/events/event-types.ts';
import { EXAMPLES, eventsDocument } from '#scripts/events/events-document.ts';
import { PROJECT } from '#test/support/compose.ts';

describe('docs/reference/events.md', () => {
  it('is up to date; otherwise run `npm run generate:events`', () => {
    expect(readFileSync(join(PROJECT, 'docs/reference/events.md'), 'utf8')).toBe(eventsDocument());
  });

  it('has exactly one row for each type', () => {
    const rows = [...eventsDocument().matchAll(/^\| `([^`]+\.[^`]+)` \|/gm)].map(([, type]) => type);
    const sorted = (types: readonly (string | undefined)[]) =>
      types.map(String).toSorted((left, right) => left.localeCompare(right));
    expect(sorted(rows)).toEqual(sorted(eventTypes));
  });

  it('explains each field of data', () => {
    const rows = [...eventsDocument().matchAll(/^\| `([a-z_]+)` \| ([^|]+) \| (.+) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(eventShapes.flatMap(({ shape }) => Object.keys(shape.data.shape)));
    for (const [row, , is = '', says = ''] of rows) {
      expect(is, row).toMatch(/^(string|number|integer|boolean|time|amount)( or `null`)?$/);
      expect(says.length, row).toBeGreaterThan(10);
    }
  });

  it('has an example of each type that matches the description', () => {
    const wrong = (Object.keys(EXAMPLES) as EventType[]).filter((type) => {
      const shape = eventShapes.find(
        ({
          shape: {
            type: { options },
          },
        }) => (options as readonly EventType[]).includes(type),
      );
      return shape?.shape.data.safeParse(EXAMPLES[type]).success !== true;
    });
    expect(wrong).toEqual([]);
  });
});
