import {
  findBy,
  listRecent,
  sameId,
  sameWhereNamed,
  type Calls,
  type Listing,
  type OptionalResult,
  type Recent,
  type SoleRight,
} from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { simulationRequestBytes } from '#upstream/client/request-bytes.ts';
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

/** What becomes of an eSIM after its delivery. Ids of eSIMs, top-ups and refunds are the service's. */
export interface EsimCalls {
  /** Needs `esim_usage`. */
  getEsimUsage(esimId: string): Promise<OptionalResult<EsimUsage>>;
  /** The packages that this eSIM can be recharged with; read before every top-up. */
  listTopupOptions(esimId: string): Promise<ServiceResult<Listing<ServicePackage>>>;
  /**
   * Buys a recharge.
   *
   * @param topup.body the stored bytes of the attempt, sent as they are.
   * @param topup.esimId the eSIM in those bytes; an answer about another one is contract drift.
   * @param topup.packageId the package in those bytes; the same.
   */
  createTopup(
    topup: SoleRight & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly esimId: string;
      readonly packageId: number;
    },
  ): Promise<ServiceResult<ServiceTopup>>;
  /** Needs `topup_read`. A failure with status 404: the service has no such top-up. */
  getTopup(id: string): Promise<OptionalResult<ServiceTopup>>;
  /** Needs `topup_list`. Only top-ups that name this eSIM, also when the service ignores the filter. */
  findTopupsOfEsim(esimId: string): Promise<OptionalResult<Listing<ServiceTopup>>>;
  /** Needs `topup_list`. The newest top-ups, of all eSIMs. */
  listRecentTopups(recent: Recent): Promise<OptionalResult<Listing<ServiceTopup>>>;
  /**
   * Cancels an unused eSIM. The answer says whether the refund was accepted, refused or goes to manual review; a
   * refusal of the whole cancellation comes as a failure with the code `cancellation_refused`. After a lost answer,
   * `already_cancelled` may speak of our own first call: look the refund up.
   */
  cancelEsim(
    cancellation: SoleRight & { readonly idempotencyKey: string; readonly esimId: string },
  ): Promise<ServiceResult<EsimCancellation>>;
  /** Needs `refund_read`. */
  getRefund(id: string): Promise<OptionalResult<ServiceRefund>>;
  /** Needs `refund_list`. Only refunds that name this eSIM, also when the service ignores the filter. */
  findRefundsOfEsim(esimId: string): Promise<OptionalResult<Listing<ServiceRefund>>>;
  /** Needs `refund_list`. The newest refunds, of all eSIMs. */
  listRecentRefunds(recent: Recent): Promise<OptionalResult<Listing<ServiceRefund>>>;
  /** Needs `sandbox_simulation`. In production a failure, and nothing is sent. */
  simulateEsim(esimId: string, state: SimulatedState): Promise<OptionalResult<SimulatedEsim>>;
}

export function esimCalls(calls: Calls): EsimCalls {
  return {
    getEsimUsage: async (id) => await calls.optional('getEsimUsage', { id }, sameWhereNamed({ esim_id: id })),
    listTopupOptions: async (id) => await calls.list('listTopupOptions', { id }),
    createTopup: async ({ idempotencyKey, body, esimId, packageId, leaseLeftMs }) =>
      await calls.one(
        'createTopup',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs },
        sameWhereNamed({ esim_id: esimId, package_id: packageId }),
      ),
    getTopup: async (id) => await calls.optional('getTopup', { id }, sameId(id)),
    findTopupsOfEsim: async (esimId) => await findBy(calls, 'listTopups', 'esim_id', esimId),
    listRecentTopups: async (recent) => await listRecent(calls, 'listTopups', recent, (topup) => topup.created_at),
    cancelEsim: async ({ idempotencyKey, esimId, leaseLeftMs }) =>
      await calls.one(
        'cancelEsim',
        { id: esimId, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs },
        sameWhereNamed({ esim_id: esimId }),
      ),
    getRefund: async (id) => await calls.optional('getRefund', { id }, sameId(id)),
    findRefundsOfEsim: async (esimId) => await findBy(calls, 'listRefunds', 'esim_id', esimId),
    listRecentRefunds: async (recent) => await listRecent(calls, 'listRefunds', recent, (refund) => refund.created_at),
    simulateEsim: async (id, state) =>
      await calls.optional('simulateEsim', { id, body: simulationRequestBytes(state) }, sameId(id)),
  };
}
