/** Turns the fields of a call into options, and their values into what the API takes. */
import { InvalidArgumentError, Option } from 'commander';
import type { Field } from '#cli/resources/call.ts';
import { duration } from '#cli/terminal/arguments.ts';

/** How the value of an option is shown in the help. */
const VALUES: Readonly<Record<Exclude<Field['kind'], 'flag'>, string>> = {
  text: 'text',
  integer: 'number',
  number: 'number',
  time: 'time',
  money: 'amount',
  texts: 'list',
  map: 'name=value',
  json: 'json',
};

/** The option of a field. @param inFilter a time may be the length of a time span until now. */
export function optionOf({ name, kind, description, required }: Field, inFilter: boolean): Option {
  const flag = `--${name.replaceAll('_', '-')}`;
  const about = sentenceOf(description, required);
  if (kind === 'flag') return new Option(`${flag} [boolean]`, about).argParser(flagValue).preset('true');
  const option = new Option(`${flag} <${VALUES[kind]}>`, withHint(about, kind, inFilter));
  switch (kind) {
    case 'text':
      return option;
    case 'integer':
    case 'number':
      return option.argParser(numberValue);
    case 'time':
      return option.argParser((text) => timeValue(text, inFilter));
    case 'money':
      return option.argParser(moneyValue);
    case 'texts':
      return option.argParser((text) => text.split(',').map((each) => each.trim()));
    case 'map':
      return option.argParser(mapValue);
    case 'json':
      return option.argParser(jsonValue);
  }
}

/** The values of the given options, by the names of the API. */
export function valuesOf(
  fields: readonly Field[],
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = options[optionOf(field, false).attributeName()];
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

/** The option of a field as it is typed. */
export function flagOf({ name }: Field): string {
  return `--${name.replaceAll('_', '-')}`;
}

function sentenceOf(description: string, required: boolean): string {
  const plain = description.replaceAll('`', '').replace(/\.$/, '');
  return required ? `${plain}${plain === '' ? '' : ' '}(required)` : plain;
}

function withHint(about: string, kind: Field['kind'], inFilter: boolean): string {
  const hints: Partial<Record<Field['kind'], string>> = {
    time: inFilter ? 'a time, or the length of a time span until now such as 24h' : '2030-01-31T12:00:00Z',
    money: '"12.50 USD"',
    map: 'once for each',
  };
  const hint = hints[kind];
  if (hint === undefined) return about;
  return about === '' ? hint : `${about} (${hint})`;
}

function flagValue(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Use true or false.');
}

function numberValue(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('Use a number.');
}

function timeValue(text: string, inFilter: boolean): string {
  if (!Number.isNaN(Date.parse(text)) && /^\d{4}-/.test(text)) return text;
  if (inFilter) return new Date(Date.now() - duration(text)).toISOString();
  throw new InvalidArgumentError('Use a time with its offset, such as 2030-01-31T12:00:00Z.');
}

function moneyValue(text: string): { amount: string; currency: string } {
  const [, amount, currency] = /^([\d.]+) ?([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  if (amount !== undefined && currency !== undefined) return { amount, currency: currency.toUpperCase() };
  throw new InvalidArgumentError('Use an amount with its currency, such as "12.50 USD".');
}

function mapValue(text: string, former: unknown): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use name=value.');
  const known = typeof former === 'object' && former !== null ? (former as Record<string, string>) : {};
  return { ...known, [text.slice(0, at)]: text.slice(at + 1) };
}

function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Use JSON.');
  }
}
