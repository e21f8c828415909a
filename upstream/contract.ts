/**
 * All wire shapes of the service, each defined once.
 *
 * The specification states the endpoints and request fields and leaves most responses "not shown". Each part therefore
 * carries a mark (stated or assumed) and a reason. These definitions are the source of the TypeScript types, the
 * runtime checks of the client, the simulator's routes and OpenAPI document, the check of a real OpenAPI document, and
 * `docs/assumptions.md`.
 *
 * Answers are read tolerantly (`upstream/reading/`): unknown fields are ignored, an optional field that cannot be used
 * counts as absent, and a missing needed field is contract drift. `variants.ts`, `envelopes.ts` and `paging.ts` define
 * the other names, values, wrappers and pagings that are understood.
 */
export { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';
export * from '#upstream/contract/endpoint.ts';
export * from '#upstream/contract/endpoints.ts';
export * from '#upstream/contract/envelopes.ts';
export * from '#upstream/contract/errors.ts';
export * from '#upstream/contract/events.ts';
export {
  DEFAULT_HEADER_PREFIX,
  IDEMPOTENCY_KEY_HEADER,
  itemOf,
  NEEDED_FOR,
  NEEDED_UNLESS,
  pageOf,
  serviceHeaders,
  type Mark,
  type Misstating,
  type ServiceHeaders,
} from '#upstream/contract/fields.ts';
export * from '#upstream/contract/lifecycle-resources.ts';
export * from '#upstream/contract/resources.ts';
export { AMOUNT_FIELDS } from '#upstream/contract/variants.ts';
export * from '#upstream/contract/webhook-answers.ts';
