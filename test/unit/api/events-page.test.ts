import { describe, expect, it } from 'vitest';
import { eventShapes } from '#api/events/event-data.ts';
import { exampleOf } from '#api/openapi/examples.ts';
import { eventsPage } from '#api/site/guides.ts';
import { eventTypes } from '#domain/events/event-types.ts';

describe('the page of events', () => {
  it('has exactly one row for each type', () => {
    const rows = [...eventsPage().matchAll(/^\| `([^`]+\.[^`]+)` \|/gm)].map(([, type]) => type);
    const sorted = (types: readonly (string | undefined)[]) =>
      types.map(String).toSorted((left, right) => left.localeCompare(right));
    expect(sorted(rows)).toEqual(sorted(eventTypes));
  });

  it('explains each field of data', () => {
    const rows = [...eventsPage().matchAll(/^\| `([a-z_]+)` \| ([^|]+) \| (.+) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(eventShapes.flatMap(({ shape }) => Object.keys(shape.data.shape)));
    for (const [row, , is = '', says = ''] of rows) {
      expect(is, row).toMatch(/^(string|number|integer|boolean|time|amount)( or `null`)?$/);
      expect(says.length, row).toBeGreaterThan(10);
    }
  });

  it('has an example of each shape that matches the description', () => {
    for (const shape of eventShapes) expect(shape.safeParse(exampleOf(shape, 'output')).error).toBeUndefined();
  });
});
