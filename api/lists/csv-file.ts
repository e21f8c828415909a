/** Files are read and sent page by page, so that a file of any length needs little memory. */
import { mayStill } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, DocumentedAnswer } from '#api/http/operation.ts';
import type { StreamedReply } from '#api/http/reply.ts';
import { flagInQuery } from '#api/lists/lists.ts';
import type { ApiScope } from '#db/access/api-keys.ts';
import type { Money } from '#domain/money/money.ts';
import { EXPORTS } from '#domain/policy/api-policy.ts';
import { BYTE_ORDER_MARK, type CsvField, csvLines, moneyFields, moneyNames } from '#outbound/csv.ts';

interface CsvColumn<Item> {
  /** Several for columns that are declared together; an amount and its currency are two. */
  readonly names: readonly string[];
  readonly of: (item: Item) => readonly CsvField[];
}

export type CsvColumns<Item> = readonly CsvColumn<Item>[];

type Value = string | number | null | undefined;

/** Fields with the names of properties. As every text of a file, theirs are never run as formulas. */
export function fields<Name extends string>(...names: readonly Name[]): CsvColumn<Readonly<Record<Name, Value>>> {
  return { names, of: (item) => names.map((name) => item[name] ?? null) };
}

export function field<Item>(name: string, of: (item: Item) => Value): CsvColumn<Item> {
  return { names: [name], of: (item) => [of(item) ?? null] };
}

export function amount<Item>(name: string, of: (item: Item) => Money | null | undefined): CsvColumn<Item> {
  return { names: moneyNames(name), of: (item) => moneyFields(of(item)) };
}

export function csvAnswer(noun: string): Readonly<Record<number, DocumentedAnswer>> {
  return {
    200: {
      description:
        `All ${noun} that match, as CSV (RFC 4180, UTF-8) with a line of field names. An amount and its currency are ` +
        "two fields. Where a spreadsheet would run a part of a text as a formula, a `'` stands before it. The " +
        'connection breaks when the file cannot be completed: a file that ends properly is whole.',
      contentType: 'text/csv',
      headers: { 'Content-Disposition': 'The name of the file.' },
    },
  };
}

export const csvQuery = {
  bom: flagInQuery('`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8.'),
};

/**
 * The first page is read before the answer begins, so that a failure then is a problem.
 * @param reader.scope a key that loses it gets no further page.
 */
export async function csvReply<Item, Position>(
  dependencies: Pick<ApiDependencies, 'keys' | 'now' | 'streams'>,
  reader: { readonly bom?: boolean | undefined; readonly caller: Caller; readonly scope: ApiScope },
  file: {
    readonly name: string;
    readonly columns: CsvColumns<Item>;
    readonly read: (
      after: Position | undefined,
      limit: number,
    ) => Promise<readonly { item: Item; position: Position }[]>;
  },
): Promise<StreamedReply> {
  const { columns, read } = file;
  const first = await read(undefined, EXPORTS.page);
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${file.name}.csv"`,
    },
    stallMs: dependencies.streams.stallMs,
    send: async (writer) => {
      const names = columns.flatMap((column) => column.names);
      if (!(await writer.send((reader.bom ? BYTE_ORDER_MARK : '') + csvLines([names], 'windows')))) return;
      for (let page = first; ; page = await read(page.at(-1)?.position, EXPORTS.page)) {
        const rows = page.map(({ item }) => columns.flatMap((column) => column.of(item)));
        if (rows.length > 0 && !(await writer.send(csvLines(rows, 'windows')))) return;
        if (page.length < EXPORTS.page) return;
        if (!(await mayStill(dependencies, reader.caller, reader.scope)))
          throw new Error('the API key of an export has ended');
      }
    },
  };
}
