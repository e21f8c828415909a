/** Reads the body of a successful answer by the contract of its call. */
import type { BodyResult, Unused } from '#upstream/client/error-mapping.ts';
import { itemOf, type EndpointContract } from '#upstream/contract.ts';
import type { PriceForms } from '#upstream/contract/variants.ts';
import { lackingClause, readAnswer, readPage } from '#upstream/reading/answer.ts';

/** A received page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Items that could not be read. */
  readonly dropped: number;
  /** The objects around the list, outermost first; they contain the paging fields. */
  readonly layers: readonly Readonly<Record<string, unknown>>[];
  /** The header `Link`. */
  readonly linkHeader: string | undefined;
  readonly prices: PriceForms;
  /**
   * Number of reasons why the content of the list is uncertain: items with unreadable ids, and further lists beside it.
   */
  readonly uncertain: number;
}

/**
 * Reads a record, or a page of a list as a {@link ListPage} when the contract has a list.
 *
 * @param linkHeader value of the header `Link`.
 */
export function readBody(
  { answer, record }: Pick<EndpointContract, 'answer' | 'record'>,
  body: unknown,
  linkHeader: string | undefined,
): BodyResult<unknown> {
  const item = itemOf(answer);
  if (item === undefined) {
    const reading = readAnswer(answer, body, record);
    if (!reading.ok) return { ok: false, problem: lackingClause(reading.lacking) };
    return { ok: true, value: reading.value, ...unusedIn({ fields: reading.leftOut, items: 0 }) };
  }
  const page = readPage(item, body, record);
  if (!page.ok) return page;
  const { items, dropped, leftOut, layers, prices, uncertain } = page;
  const value: ListPage<unknown> = { items, dropped, layers, linkHeader, prices, uncertain };
  return { ok: true, value, ...unusedIn({ fields: leftOut, items: dropped }) };
}

function unusedIn(unused: Unused): { readonly unused?: Unused } {
  return unused.fields.length === 0 && unused.items === 0 ? {} : { unused };
}
