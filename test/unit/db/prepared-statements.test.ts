import { eq, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { placesOf, shapeOf } from '#db/connection/prepared-statements.ts';
import { orders } from '#db/schema.ts';

const dialect = new PgDialect();

describe('shapeOf', () => {
  it('gives conditions that differ only in values one text, and each value its place', () => {
    const condition = (id: string, at: Date) => sql`${eq(orders.id, id)} and ${orders.createdAt} > ${at}`;
    const [one, other] = [condition('a', new Date(1)), condition('b', new Date(2))].map(shapeOf);
    expect(one?.text).toBe('"orders"."id" = $1 and "orders"."created_at" > $2');
    expect(other?.text).toBe(one?.text);
    expect(other?.values).toEqual({ $1: 'b', $2: new Date(2) });
    const built = dialect.sqlToQuery(one?.condition ?? sql``);
    expect([built.sql, built.params]).toEqual([one?.text, [sql.placeholder('$1'), sql.placeholder('$2')]]);
  });

  it('of no condition is empty', () => {
    expect(shapeOf(undefined)).toEqual({ text: '', condition: undefined, values: {} });
  });
});

describe('placesOf', () => {
  it('tells rows apart by what they set and by what is null', () => {
    const shapes = [{ id: 'a' }, { id: 'b', note: undefined }, { id: 'c', note: null }, { id: 'd', note: 'e' }];
    expect(shapes.map((row) => placesOf(row).shape)).toEqual(['id', 'id', 'id,note null', 'id,note']);
  });

  it('refuses an expression, whose text would not be in the shape', () => {
    expect(() => placesOf({ id: sql`now()` })).toThrow(TypeError);
  });
});
