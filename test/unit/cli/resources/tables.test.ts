import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flexible, money, status, text, time, type Columns } from '#cli/terminal/columns.ts';
import type { Output } from '#cli/terminal/output.ts';
import { paintFor, printItems, printObject, type FormatOptions } from '#cli/terminal/print-items.ts';
import type { Environment } from '#config/environment.ts';
import { captured } from '#test/support/cli-output.ts';
import { assertForAll } from '#test/support/for-all.ts';

interface Sale {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly charged: { readonly amount: string; readonly currency: string } | null;
  readonly at: string;
}

const columns: Columns<Sale> = {
  id: text((sale) => sale.id),
  name: flexible((sale) => sale.name),
  status: status((sale) => sale.status),
  charged: money((sale) => sale.charged),
  created_at: time((sale) => sale.at),
};
const sale = (changes: Partial<Sale> = {}): Sale => ({
  id: 'ord_1',
  name: 'Spain',
  status: 'held',
  charged: { amount: '2.40', currency: 'USD' },
  at: '2030-01-31T12:00:00.123Z',
  ...changes,
});

function printed(
  items: readonly Sale[],
  format: FormatOptions = {},
  stream: Partial<Output> = {},
  environment: Environment = {},
): string {
  const output = { ...stream, ...captured() };
  printItems(format, columns, items, { output, environment, none: 'None.' });
  return output.text();
}

describe('a table', () => {
  it('has headers, aligned columns, amounts on the right and times in UTC to the second', () => {
    expect(printed([sale(), sale({ id: 'ord_10', charged: { amount: '12.40', currency: 'USD' } })])).toBe(
      [
        'ID      NAME   STATUS    CHARGED  CREATED AT',
        'ord_1   Spain  held     2.40 USD  2030-01-31 12:00:00Z',
        'ord_10  Spain  held    12.40 USD  2030-01-31 12:00:00Z',
        '',
      ].join('\n'),
    );
  });

  it('fits a narrow terminal, and is complete elsewhere', () => {
    const name = 'a name that is much longer than the others'.repeat(3);
    const narrow = printed([sale({ name })], {}, { isTTY: true, columns: 80 }, { NO_COLOR: '1' });
    for (const line of narrow.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow).toContain('…');
    expect(printed([sale({ name })])).toContain(name);
  });

  it('leaves out columns without a value on a terminal, and keeps them for programs', () => {
    const items = [sale({ charged: null })];
    expect(printed(items, {}, { isTTY: true, columns: 200 })).not.toContain('CHARGED');
    expect(printed(items)).toContain('CHARGED');
  });

  it('has colours only on a terminal, and not with NO_COLOR or TERM=dumb', () => {
    const escape = '\u001b[';
    expect(printed([sale()], {}, { isTTY: true, columns: 200 })).toContain(`${escape}33mheld${escape}39m`);
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect(printed([sale()], {}, { isTTY: true, columns: 200 }, environment)).not.toContain(escape);
    expect(printed([sale()])).not.toContain(escape);
    const output: Output = { isTTY: true, write: () => true };
    expect(paintFor(output, { NO_COLOR: '' })('red', 'x')).not.toBe('x');
  });

  it('contains no characters of others that a terminal would obey', () => {
    assertForAll(fc.string({ unit: 'binary' }), (name) => {
      const all = printed([sale({ name, status: name, id: name })]);
      expect(all.split('\n')).toHaveLength(3);
      expect(all.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    });
  });
});

describe('CSV', () => {
  it('has an amount and its currency in two fields, and complete times', () => {
    expect(printed([sale(), sale({ charged: null })], { csv: true })).toBe(
      'id,name,status,charged_amount,charged_currency,created_at\n' +
        'ord_1,Spain,held,2.40,USD,2030-01-31T12:00:00.123Z\n' +
        'ord_1,Spain,held,,,2030-01-31T12:00:00.123Z\n',
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('never begins a cell with a formula: %j', (name) => {
    const [, row = ''] = printed([sale({ name })], { csv: true }).split(/\n(?=ord)/);
    expect(row).toMatch(/^ord_1,"?'/);
  });

  it('contains no formula behind another separator either, as a `;` is in many countries', () => {
    const hostile = fc.string({ unit: fc.constantFrom(';', '|', '\t', '\n', '"', ' ', '=', '-', '@', '＝', 'x') });
    assertForAll(hostile, (name) => {
      const csv = printed([sale({ name })], { csv: true });
      for (const cell of csv.split(/[;|\t\r\n]/)) expect(cell.replace(/^[ "]*/, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
    });
    expect(printed([sale({ name: 'a;=cmd' })], { csv: true })).toContain("ord_1,a;'=cmd,");
    expect(printed([sale({ name: 'a; b-c' })], { csv: true })).toContain('ord_1,a; b-c,');
  });

  it('quotes separators, quotes and line breaks', () => {
    expect(printed([sale({ name: 'a,"b"\nc' })], { csv: true })).toContain('"a,""b""\nc"');
  });
});

describe('one object', () => {
  const shown = (object: unknown, format: FormatOptions = {}) => {
    const output = captured();
    printObject(format, object, output, {});
    return output.text();
  };
  const order = {
    id: 'ord_1',
    charged: { amount: '2.40', currency: 'USD' },
    esim_id: null,
    failure: { class: 'timeout', advice: 'Wait.' },
    countries: ['ES', 'PT'],
    created_at: '2030-01-31T12:00:00Z',
  };

  it('has a line for each field with a value, also for nested ones', () => {
    expect(shown(order)).toBe(
      [
        'id              ord_1',
        'charged         2.40 USD',
        'failure.class   timeout',
        'failure.advice  Wait.',
        'countries       ES, PT',
        'created_at      2030-01-31 12:00:00Z',
        '',
      ].join('\n'),
    );
  });
});
