// `operations.ts` and `types.ts` are not committed: `npm run generate:client` in the project makes them.
export { ResellerClient, type WaitOptions, type Work } from './client.ts';
export type { KnownValue } from './errors.ts';
export { isProblem, NoAnswerError, ProblemError, StillInProgressError, type ProblemCode } from './errors.ts';
export { EventStream, type StreamEventsQuery, type StreamOptions } from './events.ts';
export { Paged, type Page } from './paged.ts';
export type { CallOptions, OnResponse, ResponseInfo, TransportOptions, WriteOptions } from './transport.ts';
export type * from './operations.ts';
export type * from './types.ts';
