/** A mistake that people make with an API: the call, and what its answer must say. */
export interface Mistake {
  readonly name: string;
  readonly call: readonly [method: string, path: string];
  /** Sent as JSON, unless it is a string. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** True for a call without an API key. */
  readonly anonymous?: true;
  readonly answers: readonly [status: number, code: string, detail: string];
}

/** A correct order. */
export const ORDER = { package_id: 101, external_order_id: 'shop-1' };
/** The second half of an id. */
export const ULID = '01JQ8Z5YV7N4M2K3H6T9R0WXCD';
