import { describe, expect, it } from 'vitest';
import { judgeRefundConditions, type RefundConditionName } from '#domain/cancellation/refund-conditions.ts';
import { jsonAnswer, startTestClient } from '#test/support/upstream-client.ts';
import { readRefundEvidence, type OwnRefundRecords } from '#upstream/mapping/refund-evidence.ts';

const NOW = Date.UTC(2025, 5, 1, 12);
const AN_HOUR_AGO = NOW - 3_600_000;
const TIME = new Date(AN_HOUR_AGO).toISOString();

/** The answers of the service about an unused eSIM. */
interface Answers {
  readonly usage: object;
  readonly esim: object;
  readonly topups: readonly object[];
  readonly wallet: readonly object[];
}
const debit = { id: 1, type: 'debit', amount: '2.40', currency: 'USD', reason: 'order', order_id: 5, created_at: TIME };
const UNTOUCHED: Answers = {
  usage: { esim_id: 'e_1', data_used_mb: 0 },
  esim: {
    id: 'e_1',
    iccid: '8944500000000000001',
    activation_code: 'LPA:1$a.example$x',
    status: 'available',
    installed_at: null,
    activated_at: null,
  },
  topups: [],
  wallet: [debit],
};
const OWN: OwnRefundRecords = {
  serviceEsimId: 'e_1',
  serviceOrderId: '5',
  reference: 'shop-1',
  orderedAt: AN_HOUR_AGO,
  completedTopups: 0,
  isDebited: false,
};

/** Reads from a service with these answers. @returns the unmet conditions. */
async function unmet(said: Partial<Answers>, own: Partial<OwnRefundRecords> = {}): Promise<string[]> {
  const { usage, esim, topups, wallet } = { ...UNTOUCHED, ...said };
  await using opened = await startTestClient(({ target }) => {
    if (target.includes('/usage')) return jsonAnswer(usage);
    if (target.includes('/topups')) return jsonAnswer({ data: topups, next_cursor: null });
    return jsonAnswer(target.includes('/wallet') ? { data: wallet, next_cursor: null } : esim);
  });
  const { facts } = await readRefundEvidence(opened.client, { ...OWN, ...own }, () => NOW);
  return judgeRefundConditions(facts)
    .filter(({ result }) => result !== 'pass')
    .map(({ name, result }) => `${name}: ${result}`);
}

const topup = (status: string) => ({ topups: [{ id: 't_1', esim_id: 'e_1', status }] });

describe('the evidence of the service about an eSIM', () => {
  it('takes no debit of a top-up for that of the order, which it also names', async () => {
    expect(await unmet({ wallet: [{ ...debit, topup_id: 'st_1' }] })).toEqual(['debit_verified: fail']);
    expect(await unmet({ wallet: [{ ...debit, topup_id: '0' }] })).toEqual([]);
  });

  it('meets all five conditions of a refund for an unused eSIM', async () => {
    expect(await unmet({})).toEqual([]);
    expect(await unmet(topup('failed'))).toEqual([]);
  });

  it.each<[RefundConditionName, string, Partial<Answers>, Partial<OwnRefundRecords>?]>([
    ['usage_is_zero', 'a little was used', { usage: { esim_id: 'e_1', data_used_mb: 0.5 } }],
    ['never_installed', 'it was installed', { esim: { ...UNTOUCHED.esim, installed_at: TIME } }],
    ['never_activated', 'it was activated', { esim: { ...UNTOUCHED.esim, activated_at: TIME } }],
    ['no_completed_topup', 'the service lists a completed top-up', topup('completed')],
    ['no_completed_topup', 'we completed a top-up', {}, { completedTopups: 1 }],
    ['debit_verified', 'the wallet is empty', { wallet: [] }],
    ['debit_verified', 'the debit is of another order', { wallet: [{ ...debit, order_id: 6 }] }],
    ['debit_verified', 'the movement is a credit', { wallet: [{ ...debit, type: 'credit' }] }],
  ])('fails the condition %s, and no other, when %s', async (condition, _why, said, own) => {
    expect(await unmet(said, own)).toEqual([`${condition}: fail`]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['is absent', { installed_at: undefined }],
    ['has a form that we do not read', { installed_at: '23/11/2026 10:00', activated_at: '23/11/2026 10:05' }],
    ['is a flag', { activated_at: true }],
  ])('leaves the installation unknown when a time %s, because only null means "never"', async (_name, times) => {
    const conditions = await unmet({ esim: { ...UNTOUCHED.esim, ...times } });
    expect(conditions).toEqual(['never_installed: unknown', 'never_activated: unknown']);
  });

  it('fails the condition never_installed when its state shows use', async () => {
    expect(await unmet({ esim: { ...UNTOUCHED.esim, status: 'Active' } })).toEqual(['never_installed: fail']);
  });

  it('takes the debit from our books when the filtered list of the wallet does not show it', async () => {
    expect(await unmet({ wallet: [] }, { isDebited: true })).toEqual([]);
    const pending = { wallet: [{ ...debit, status: 'pending' }] };
    expect(await unmet(pending, { isDebited: true })).toEqual(['debit_verified: unknown']);
  });

  it('takes no failed debit for a pending one', async () => {
    expect(await unmet({ wallet: [{ ...debit, status: 'failed' }] })).toEqual(['debit_verified: fail']);
  });

  it('leaves the debit unknown while it may still appear', async () => {
    expect(await unmet({ wallet: [] }, { orderedAt: NOW - 1_000 })).toEqual(['debit_verified: unknown']);
  });
});
