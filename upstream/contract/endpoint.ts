import * as z from 'zod';
import type { Capability } from '#domain/service/capability-profile.ts';
import type { RecordName } from '#upstream/contract/variants.ts';

/**
 * *stated*: by the specification. *shape assumed*: the call is stated. *call assumed*: at most its existence is stated.
 */
export type Mark = 'stated' | 'shape assumed' | 'call assumed';

/** No other pairs occur. */
export const CALL_MARKS = {
  'shape assumed': { request: 'stated', response: 'shape assumed' },
  'call assumed': { request: 'call assumed', response: 'call assumed' },
  'path assumed': { request: 'call assumed', response: 'stated' },
} as const satisfies Record<string, { readonly request: Mark; readonly response: Mark }>;

export interface ServiceHeaders {
  readonly event: string;
  readonly delivery: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** @param prefix everything before `-Event`, such as `X-Acme`. */
export function serviceHeaders(prefix: string): ServiceHeaders {
  return {
    event: `${prefix}-Event`,
    delivery: `${prefix}-Delivery`,
    timestamp: `${prefix}-Timestamp`,
    signature: `${prefix}-Signature`,
  };
}

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

export interface EndpointContract {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly purpose: string;
  readonly mark: keyof typeof CALL_MARKS;
  /** For a stated part, what the specification leaves open. */
  readonly reason: string;
  /** First made without a token, and repeated with one after a 401. */
  readonly withoutToken?: true;
  readonly idempotencyKey?: true;
  readonly query?: readonly string[];
  readonly requiredQuery?: readonly string[];
  /** A clause says what is impossible without the member. */
  readonly neededQuery?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** A service may wrap the answer under this name. */
  readonly record: RecordName;
  readonly isPriceList?: true;
  /** If it is off, the call is not made, and its fallback is used. */
  readonly capability?: Capability;
  /** No purchase, cancellation or subscription depends on the call. */
  readonly convenience?: true;
  readonly sandboxOnly?: true;
}

/** `variants.ts` and `paging.ts` define other forms. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullish() });
}

export function itemOf(answer: z.ZodType): z.ZodType | undefined {
  const data: unknown = answer instanceof z.ZodObject ? answer.shape['data'] : undefined;
  return data instanceof z.ZodArray && data.element instanceof z.ZodType ? data.element : undefined;
}
