/** The parts of a call, and the headers of the specification. */
import * as z from 'zod';
import type { Capability } from '#domain/service/capability-profile.ts';
import type { RecordName } from '#upstream/contract/variants.ts';

/**
 * The certainty of a part of the contract. *stated*: the specification says it. *shape assumed*: the call is stated,
 * the shape of its answer is assumed. *call assumed*: at most the existence of the call is stated.
 */
export type Mark = 'stated' | 'shape assumed' | 'call assumed';

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
  /** Relative to `{base_url}` or `{sandbox_url}`; `{id}` is a path parameter. */
  readonly path: string;
  readonly purpose: string;
  readonly request: Mark;
  readonly response: Mark;
  /** Why this form is assumed; for a stated part, what the specification leaves open. */
  readonly reason: string;
  /** The call is first made without a token, and repeated with one if the service answers 401. */
  readonly withoutToken?: true;
  readonly idempotencyKey?: true;
  readonly query?: readonly string[];
  /** The members of `query` that every request has. */
  readonly requiredQuery?: readonly string[];
  /** The members of `query` that the product depends on, each with what is impossible without it, as a clause. */
  readonly neededQuery?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** The record in the answer or in its list. A service may wrap the answer under this name. */
  readonly record: RecordName;
  readonly isPriceList?: true;
  /** If this capability is off, the call is not made, and the fallback of the capability is used. */
  readonly capability?: Capability;
  /** True when no purchase, cancellation or subscription depends on the call. */
  readonly convenience?: true;
  readonly sandboxOnly?: true;
}

/** A page of a list. `variants.ts` and `paging.ts` define other forms of lists and of paging. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullish() });
}

/** The schema of an item of a list; undefined when the answer is not a {@link pageOf}. */
export function itemOf(answer: z.ZodType): z.ZodType | undefined {
  const data: unknown = answer instanceof z.ZodObject ? answer.shape['data'] : undefined;
  return data instanceof z.ZodArray && data.element instanceof z.ZodType ? data.element : undefined;
}
