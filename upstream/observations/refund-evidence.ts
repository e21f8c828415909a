import type { Evidence, RefundEvidence } from '#domain/cancellation/refund-conditions.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import { SIMULATED_STATES, type ServiceEsim } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS, isOfOrder } from '#upstream/observations/wallet-movements.ts';

/** What our own rows know of an eSIM. */
export interface OwnRefundRecords {
  readonly serviceEsimId: string;
  /** The service's id of the order that it came from, and the reference that we gave with it. */
  readonly serviceOrderId: string | null;
  readonly reference: string | null;
  /** Epoch milliseconds of that order's first send: its debit is not older. */
  readonly orderedAt: number;
  /** Top-ups of it that we completed. */
  readonly completedTopups: number;
}

/** A debit may show late; one that is not there after minutes is not there. */
const DEBIT_SHOWS_WITHIN_MS = 5 * 60_000;

type Service = Pick<ServiceClient, 'getEsim' | 'getEsimUsage' | 'findTopupsOfEsim' | 'listWalletTransactions'>;

/** What was read for it, for whoever keeps what the service says. */
export interface RefundEvidenceRead {
  readonly facts: RefundEvidence;
  /** The eSIM; undefined where it could not be read. */
  readonly esim: ServiceEsim | undefined;
  /** When reading began. */
  readonly readAt: Date;
}

/**
 * Reads from the service what the five conditions of a refund are judged by. Spends nothing and changes nothing there.
 */
export async function readRefundEvidence(
  service: Service,
  own: OwnRefundRecords,
  now: () => number,
): Promise<RefundEvidenceRead> {
  const readAt = new Date(now());
  const [usage, esim, topups, wallet] = await Promise.all([
    service.getEsimUsage(own.serviceEsimId),
    service.getEsim(own.serviceEsimId),
    service.findTopupsOfEsim(own.serviceEsimId),
    service.listWalletTransactions({ since: own.orderedAt - CLOCK_SKEW_MS }),
  ]);
  const asOf = now();
  const facts: RefundEvidence = {
    usage: reading(usage, ({ data_used_mb: dataUsedMb, measured_at: at }) => ({
      value: { dataUsedMb },
      asOf: timeOf(at) ?? asOf,
    })),
    installation: installationOf(esim, asOf),
    topups: completedTopups(topups, own, asOf),
    debit: debitOf(wallet, own, asOf),
  };
  return { facts, esim: esim.ok ? esim.value : undefined, readAt };
}

/** States of an eSIM that was installed, whether or not its times say so. */
const INSTALLED: ReadonlySet<string> = new Set(SIMULATED_STATES);

/** Only null says "never": a time that is absent, or in a form that we do not read, says nothing. */
function installationOf(esim: Awaited<ReturnType<Service['getEsim']>>, asOf: number): RefundEvidence['installation'] {
  if (!esim.ok) return unread(esim);
  const { status, installed_at: installed, activated_at: activated } = esim.value;
  const isInUse = INSTALLED.has(status);
  const installedAt = timeOf(installed) ?? (isInUse ? asOf : undefined);
  if (installedAt === undefined && (installed === undefined || activated === undefined)) {
    const lacking = installed === undefined ? 'installed_at' : 'activated_at';
    return {
      ok: false,
      detail: `The service does not say in a form that we read ${lacking} of the eSIM.`,
      mayPass: false,
    };
  }
  return { ok: true, value: { installedAt, activatedAt: timeOf(activated) }, asOf };
}

function completedTopups(
  list: Awaited<ReturnType<Service['findTopupsOfEsim']>>,
  { completedTopups: ours }: OwnRefundRecords,
  asOf: number,
): RefundEvidence['topups'] {
  // One of ours is enough, whatever the service lists.
  if (ours > 0) return { ok: true, value: { completed: ours }, asOf };
  if (!list.ok) return { ...unread(list), detail: `We know of none; ${unread(list).detail}` };
  const completed = list.value.items.filter(({ status }) => status === 'completed').length;
  if (completed === 0 && !list.value.complete)
    return { ok: false, detail: 'The service lists more top-ups than can be searched.', mayPass: false };
  return { ok: true, value: { completed }, asOf };
}

function debitOf(
  list: Awaited<ReturnType<Service['listWalletTransactions']>>,
  { serviceOrderId: serviceId, reference, orderedAt }: OwnRefundRecords,
  asOf: number,
): RefundEvidence['debit'] {
  if (!list.ok) return unread(list);
  const found = list.value.items.some((each) => each.type === 'debit' && isOfOrder({ serviceId, reference }, each));
  if (!found && asOf - orderedAt < DEBIT_SHOWS_WITHIN_MS) {
    return { ok: false, detail: 'The wallet does not show what it cost (yet).', mayPass: true };
  }
  if (!found && !list.value.complete)
    return { ok: false, detail: 'The wallet has more transactions than can be searched.', mayPass: false };
  return { ok: true, value: { found }, asOf };
}

function reading<Answer, Value>(
  result: OptionalResult<Answer>,
  read: (answer: Answer) => { readonly value: Value; readonly asOf: number },
): Evidence<Value> {
  return result.ok ? { ok: true, ...read(result.value) } : unread(result);
}

function unread(
  result: Extract<OptionalResult<unknown>, { readonly ok: false }>,
): Extract<Evidence<never>, { ok: false }> {
  if (result.kind === 'failure') return { ok: false, detail: result.detail, mayPass: true };
  return { ok: false, detail: `this service has no call for it (${result.capability}).`, mayPass: false };
}

function timeOf(text: string | null | undefined): number | undefined {
  return text == null ? undefined : Date.parse(text);
}
