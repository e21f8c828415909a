import type { Output } from '#cli/terminal/output.ts';
import { moneyText, timeText } from '#cli/terminal/tables/cells.ts';
import { type Paint, styleOfStatus } from '#cli/terminal/tables/colours.ts';
import type { Amount, Columns, Plain } from '#cli/terminal/tables/columns.ts';
import { visible } from '#cli/terminal/visible-text.ts';

type Value = Plain | Amount;

/** Prints one object, a line for each field that has a value. */
export function printDetails(output: Output, object: unknown, paint: Paint): void {
  const lines = fieldsOf(object).flatMap(([name, value]): [string, string][] => {
    const shown = textOf(value);
    return shown === '' ? [] : [[visible(name), paintedValue(name, shown, paint)]];
  });
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  for (const [name, shown] of lines) output.write(`${paint('dim', name.padEnd(width))}  ${shown}\n`);
}

/** The fields of one object as columns, for CSV. */
export function columnsOf(object: unknown): Columns<unknown> {
  return Object.fromEntries(
    fieldsOf(object).map(([name, value]) => [
      name,
      isAmount(value) ? { kind: 'money', of: () => value } : { kind: 'text', of: () => value },
    ]),
  );
}

/** All fields, with `.` between the names of nested ones. A list of texts is one field. */
function fieldsOf(value: unknown, name = ''): (readonly [string, Value])[] {
  if (isPlain(value) || isAmount(value)) return name === '' && value == null ? [] : [[name, value]];
  if (Array.isArray(value) && value.every(isPlain)) return [[name, value.map(String).join(', ')]];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    fieldsOf(inner, name === '' ? key : `${name}.${key}`),
  );
}

function isPlain(value: unknown): value is Plain {
  return value == null || typeof value !== 'object';
}

function isAmount(value: unknown): value is Amount {
  return typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'amount,currency';
}

function textOf(value: Value): string {
  return isAmount(value) ? moneyText(value) : timeText(value);
}

function paintedValue(name: string, shown: string, paint: Paint): string {
  const style = name === 'status' ? styleOfStatus(shown) : undefined;
  return style === undefined ? shown : paint(style, shown);
}
