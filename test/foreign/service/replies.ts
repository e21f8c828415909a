/** The answers of the foreign service in its present style. */
import { faultBody, listed, presented, wrapped, type Fault, type Plain } from '#test/foreign/service/present.ts';
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

/** The service's own page size; it reads no other. */
const PAGE_SIZE = 10;

/** An answer before it is written. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly link?: string | undefined;
  /** The service has acted, and the connection breaks. */
  readonly isLost?: boolean;
}

/** Makes the answers. */
export class Replies {
  readonly #style: () => Style;

  constructor(style: () => Style) {
    this.#style = style;
  }

  /** One record. */
  record(status: number, kind: RecordKind, record: Plain): Reply {
    return { status, body: wrapped(this.#style(), kind, presented(this.#style(), kind, record)) };
  }

  /** One page of a list. */
  list(kind: RecordKind, all: readonly Plain[], url: URL): Reply {
    const asked = url.searchParams;
    const offset = Math.floor(Number(asked.get('offset') ?? 0) / PAGE_SIZE) + 1;
    const page = Number(asked.get('page') ?? asked.get('cursor') ?? offset);
    const size = PAGE_SIZE;
    const items = all.slice((page - 1) * size, page * size).map((each) => presented(this.#style(), kind, each));
    const { body, link } = listed(this.#style(), kind, { items, page, size, total: all.length, url });
    return { status: 200, body, link };
  }

  refused(fault: Fault): Reply {
    return { status: fault.status, body: faultBody(this.#style(), fault) };
  }

  unknown(): Reply {
    return this.refused({ status: 404, code: 'not_found', message: 'Not found.' });
  }
}
