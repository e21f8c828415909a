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

export type CsvColumn<Item> =
  | { readonly kind: 'text'; readonly of: (item: Item) => string | null | undefined }
  | { readonly kind: 'safe'; readonly of: (item: Item) => string | number | null | undefined }
  | { readonly kind: 'money'; readonly of: (item: Item) => Money | null | undefined };

export type CsvColumns<Item> = Readonly<Record<string, CsvColumn<Item>>>;

/** Text from callers or the service, which a spreadsheet could run as a formula. */
export function text<Item>(of: (item: Item) => string | null | undefined): CsvColumn<Item> {
  return { kind: 'text', of };
}

/** A value of ours that no spreadsheet runs as a formula. */
export function safe<Item>(of: (item: Item) => string | number | null | undefined): CsvColumn<Item> {
  return { kind: 'safe', of };
}

export function amount<Item>(of: (item: Item) => Money | null | undefined): CsvColumn<Item> {
  return { kind: 'money', of };
}

interface CsvItem<Item, Position> {
  readonly item: Item;
  readonly position: Position;
}

export interface CsvFile<Item, Position> {
  readonly name: string;
  readonly columns: CsvColumns<Item>;
  readonly read: (after: Position | undefined, limit: number) => Promise<readonly CsvItem<Item, Position>[]>;
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

export interface CsvReader {
  readonly bom?: boolean | undefined;
  readonly caller: Caller;
  /** A key that loses it gets no further page. */
  readonly scope: ApiScope;
}

/** The first page is read before the answer begins, so that a failure then is a problem. */
export async function csvReply<Item, Position>(
  dependencies: Pick<ApiDependencies, 'keys' | 'now' | 'streams'>,
  { bom = false, caller, scope }: CsvReader,
  { name, columns, read }: CsvFile<Item, Position>,
): Promise<StreamedReply> {
  const first = await read(undefined, EXPORTS.page);
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    },
    stallMs: dependencies.streams.stallMs,
    send: async (writer) => {
      const names = Object.entries(columns).flatMap(([field, { kind }]) =>
        kind === 'money' ? moneyNames(field) : [field],
      );
      if (!(await writer.send((bom ? BYTE_ORDER_MARK : '') + csvLines([names], 'windows')))) return;
      for (let page = first; ; page = await read(page.at(-1)?.position, EXPORTS.page)) {
        const rows = page.map(({ item }) => Object.values(columns).flatMap((column) => fieldsOf(column, item)));
        if (rows.length > 0 && !(await writer.send(csvLines(rows, 'windows')))) return;
        if (page.length < EXPORTS.page) return;
        if (!(await mayStill(dependencies, caller, scope))) throw new Error('the API key of an export has ended');
      }
    },
  };
}

function fieldsOf<Item>(column: CsvColumn<Item>, item: Item): CsvField[] {
  if (column.kind === 'text') return [column.of(item) ?? null];
  if (column.kind === 'money') return moneyFields(column.of(item));
  const value = column.of(item);
  return [value == null ? null : { safe: String(value) }];
}
