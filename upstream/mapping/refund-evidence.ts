import type { Evidence, RefundEvidence } from '#domain/cancellation/refund-conditions.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import { SIMULATED_STATES, type ServiceEsim } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS, isFinalMovement, isOfOrder, isPending } from '#upstream/mapping/wallet-movements.ts';

export interface OwnRefundRecords {
  readonly serviceEsimId: string;
  readonly serviceOrderId: string | null;
  readonly reference: string | null;
  /** Epoch milliseconds of the first send; its debit is not older. */
  readonly orderedAt: number;
  readonly completedTopups: number;
  /** Our books have its debit: they read the wallet without a filter, which may be in another time zone. */
  readonly isDebited: boolean;
}

/** The wallet may show a debit late, and the books are compared only sometimes. */
const DEBIT_SHOWS_WITHIN_MS = 60 * 60_000;

type Service = Pick<ServiceClient, 'getEsim' | 'getEsimUsage' | 'findTopupsOfEsim' | 'listWalletTransactions'>;

/** Specification, States and transitions: five conditions of an automatic refund. Never throws. */
export async function readRefundEvidence(
  service: Service,
  own: OwnRefundRecords,
  now: () => number,
): Promise<{ readonly facts: RefundEvidence; readonly esim: ServiceEsim | undefined; readonly readAt: Date }> {
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

const INSTALLED: ReadonlySet<string> = new Set(SIMULATED_STATES);

/** Only null means "never". A time that is absent or unreadable is unknown. */
function installationOf(esim: Awaited<ReturnType<Service['getEsim']>>, asOf: number): RefundEvidence['installation'] {
  if (!esim.ok) return unread(esim);
  const { status, installed_at: installed, activated_at: activated } = esim.value;
  const isInUse = INSTALLED.has(status);
  const installedAt = timeOf(installed) ?? (isInUse ? asOf : undefined);
  if (installedAt === undefined && (installed === undefined || activated === undefined)) {
    const lacking = installed === undefined ? 'installed_at' : 'activated_at';
    return {
      ok: false,
      detail: `The service does not report ${lacking} of the eSIM in a form that we can read.`,
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
  // One top-up of ours is enough, whatever the service lists.
  if (ours > 0) return { ok: true, value: { completed: ours }, asOf };
  if (!list.ok) return { ...unread(list), detail: `Our records show none; ${unread(list).detail}` };
  const completed = list.value.items.filter(({ status }) => status === 'completed').length;
  if (completed === 0 && !list.value.complete)
    return { ok: false, detail: 'The service lists more top-ups than can be searched.', mayPass: false };
  return { ok: true, value: { completed }, asOf };
}

function debitOf(
  list: Awaited<ReturnType<Service['listWalletTransactions']>>,
  { serviceOrderId: serviceId, reference, orderedAt, isDebited }: OwnRefundRecords,
  asOf: number,
): RefundEvidence['debit'] {
  const booked = { ok: true, value: { found: true }, asOf } as const;
  if (!list.ok) return isDebited ? booked : unread(list);
  const debits = list.value.items.filter((each) => each.type === 'debit' && isOfOrder({ serviceId, reference }, each));
  if (debits.length === 0 && isDebited) return booked;
  const found = debits.some(isFinalMovement);
  if (!found && debits.some(isPending))
    return { ok: false, detail: 'The debit is pending in the wallet.', mayPass: true };
  if (!found && asOf - orderedAt < DEBIT_SHOWS_WITHIN_MS) {
    return { ok: false, detail: 'The wallet does not show the debit (yet).', mayPass: true };
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
  if (result.kind === 'failure') {
    // A changed form does not pass by itself, so the cancellation must not wait for it.
    return { ok: false, detail: result.detail, mayPass: result.failure !== 'contract_drift' };
  }
  return { ok: false, detail: `this service has no call for it (${result.capability}).`, mayPass: false };
}

function timeOf(text: string | null | undefined): number | undefined {
  return text == null ? undefined : Date.parse(text);
}
