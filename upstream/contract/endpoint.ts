import type * as z from 'zod';
import type { Capability } from '#domain/service/capability-profile.ts';
import type { RecordName } from '#upstream/contract/envelopes.ts';
import type { Mark } from '#upstream/contract/fields.ts';

/** One call of the interface. */
export interface EndpointContract {
  readonly method: 'GET' | 'POST';
  /** Relative to `{base_url}` or `{sandbox_url}`; `{id}` is a path parameter. */
  readonly path: string;
  readonly purpose: string;
  /** Method, path, headers, query and body. */
  readonly request: Mark;
  readonly response: Mark;
  /** Why this form is assumed; for a stated part, what the specification leaves open. */
  readonly reason: string;
  /** False: the call is first made without a token. It is repeated with one if the service answers 401. */
  readonly authorized: boolean;
  readonly idempotencyKey: boolean;
  readonly query?: readonly string[];
  /** The members of `query` that every request has. */
  readonly requiredQuery?: readonly string[];
  /** The members of `query` that the product depends on, each with what is impossible without it, as a clause. */
  readonly neededQuery?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** The record in the answer or in its list. A service may wrap the answer under this name. */
  readonly record: RecordName;
  /** True for the lists whose prices show the unit of all amounts. */
  readonly isPriceList?: true;
  /** If this capability is off, the call is not made, and the fallback of the capability is used. */
  readonly capability?: Capability;
  /** True when no purchase, cancellation or subscription depends on the call. */
  readonly convenience?: true;
  /** True when the call exists under `{sandbox_url}` only. */
  readonly sandboxOnly?: true;
}
