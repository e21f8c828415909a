import type * as z from 'zod';
import type { Capability } from '#domain/service/capabilities.ts';
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
  /** Why it is assumed as it is; for a stated part, what the statement leaves open. */
  readonly reason: string;
  /** False: the call is made without a token first, and with one where the service asks for it after all. */
  readonly authorized: boolean;
  readonly idempotencyKey: boolean;
  readonly query?: readonly string[];
  /** Those of `query` that every request has. */
  readonly requiredQuery?: readonly string[];
  /** Those of `query` that the product depends on, with what cannot be done without them, as a clause. */
  readonly neededQuery?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** What the answer is about, or what its list holds; also the name under which a service may wrap it. */
  readonly record: RecordName;
  /** True for the lists whose prices show the unit of all amounts. */
  readonly isPriceList?: true;
  /** Switched off, the call is not made, and the capability's fallback takes its place. */
  readonly capability?: Capability;
  /** True where no purchase, cancellation or subscription depends on the call. */
  readonly convenience?: true;
  /** True for what exists under `{sandbox_url}` only. */
  readonly sandboxOnly?: true;
}
