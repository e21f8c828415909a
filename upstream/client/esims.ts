import type { Calls, Listing, OptionalResult, SendLease } from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { esimUnderPath, sameId, sameWhereNamed } from '#upstream/client/identity.ts';
import { simulationRequestBytes } from '#upstream/client/request-bytes.ts';
import { findBy, listRecent, type Recent } from '#upstream/client/searches.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  type EsimCancellation,
  type EsimUsage,
  type ServicePackage,
  type ServiceRefund,
  type ServiceTopup,
  type SimulatedEsim,
  type SimulatedState,
} from '#upstream/contract.ts';

/** Calls about delivered eSIMs: usage, top-ups, cancellation and refunds. All ids are those of the service. */
export interface EsimCalls {
  /** Needs `esim_usage`. */
  getEsimUsage(esimId: string): Promise<OptionalResult<EsimUsage>>;
  /** Lists the packages that can recharge this eSIM; read before every top-up. */
  listTopupOptions(esimId: string): Promise<ServiceResult<Listing<ServicePackage>>>;
  /**
   * Buys a top-up.
   *
   * @param topup.body the stored bytes of the attempt, sent unchanged.
   * @param topup.esimId the eSIM in those bytes. An answer that names another one is contract drift.
   * @param topup.packageId the package in those bytes. An answer that names another one is contract drift.
   */
  createTopup(
    topup: SendLease & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly esimId: string;
      readonly packageId: number;
    },
  ): Promise<ServiceResult<ServiceTopup>>;
  /** Needs `topup_read`. A failure with status 404 means that the service has no such top-up. */
  getTopup(id: string): Promise<OptionalResult<ServiceTopup>>;
  /** Needs `topup_list`. Returns only top-ups that name this eSIM, also when the service ignores the filter. */
  findTopupsOfEsim(esimId: string): Promise<OptionalResult<Listing<ServiceTopup>>>;
  /** Needs `topup_list`. Returns the newest top-ups of all eSIMs. */
  listRecentTopups(recent: Recent): Promise<OptionalResult<Listing<ServiceTopup>>>;
  /**
   * Cancels an unused eSIM. The answer says whether the refund was accepted, was refused or goes to manual review. When
   * the service refuses the whole cancellation, the result is a failure with the code `cancellation_refused`. After a
   * lost answer, the code `already_cancelled` may refer to our own first call: look the refund up.
   */
  cancelEsim(
    cancellation: SendLease & { readonly idempotencyKey: string; readonly esimId: string },
  ): Promise<ServiceResult<EsimCancellation>>;
  /** Needs `refund_read`. */
  getRefund(id: string): Promise<OptionalResult<ServiceRefund>>;
  /** Needs `refund_list`. Returns only refunds that name this eSIM, also when the service ignores the filter. */
  findRefundsOfEsim(esimId: string): Promise<OptionalResult<Listing<ServiceRefund>>>;
  /** Needs `refund_list`. Returns the newest refunds of all eSIMs. */
  listRecentRefunds(recent: Recent): Promise<OptionalResult<Listing<ServiceRefund>>>;
  /** Needs `sandbox_simulation`. In production it fails without sending anything. */
  simulateEsim(esimId: string, state: SimulatedState): Promise<OptionalResult<SimulatedEsim>>;
}

/** The calls about eSIMs, top-ups, cancellations and refunds. */
export function esimCalls(calls: Calls): EsimCalls {
  return {
    getEsimUsage: async (id) => await calls.optional('getEsimUsage', { id }, esimUnderPath('esim_id', id)),
    listTopupOptions: async (id) => await calls.list('listTopupOptions', { id }),
    createTopup: async ({ idempotencyKey, body, esimId, packageId, leaseLeftMs }) =>
      await calls.one(
        'createTopup',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs, names: esimId },
        sameWhereNamed({ esim_id: esimId, package_id: packageId }),
      ),
    getTopup: async (id) => await calls.optional('getTopup', { id }, sameId(id)),
    findTopupsOfEsim: async (esimId) => await findBy(calls, 'listTopups', 'esim_id', esimId),
    listRecentTopups: async (recent) => await listRecent(calls, 'listTopups', recent, (topup) => topup.created_at),
    cancelEsim: async ({ idempotencyKey, esimId, leaseLeftMs }) =>
      await calls.one(
        'cancelEsim',
        { id: esimId, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs },
        esimUnderPath('esim_id', esimId),
      ),
    getRefund: async (id) => await calls.optional('getRefund', { id }, sameId(id)),
    findRefundsOfEsim: async (esimId) => await findBy(calls, 'listRefunds', 'esim_id', esimId),
    listRecentRefunds: async (recent) => await listRecent(calls, 'listRefunds', recent, (refund) => refund.created_at),
    simulateEsim: async (id, state) =>
      await calls.optional('simulateEsim', { id, body: simulationRequestBytes(state) }, esimUnderPath('id', id)),
  };
}
