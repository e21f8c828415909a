/** The two sides of the model: the certain facts, and a running stack with its work. */
import { expect } from 'vitest';
import * as z from 'zod';
import type { FailureClass } from '#domain/work/failure.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import { checkInvariants, shownWork, type Shown } from '#test/fault/model/invariants.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { reconcileBooks } from '#test/support/servers/stack-temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { becomeQuiet } from '#test/support/work/books/books.ts';
import { isAtRest } from '#test/support/work/books/both-sides.ts';
import { PACKAGE, type OrderDesk } from '#test/support/work/order-desk.ts';

/** The certain facts about a piece of work, independent of the service. */
export interface ModelledWork {
  readonly kind: WorkKind;
  /** The last limit that our API has accepted. */
  limit: string | null;
  /** Our id of the eSIM that an order delivered, a top-up recharges, or a cancellation ends. */
  esim: string | undefined;
  /** Accepted under a pause, and not released since. It is not sent. */
  stopped: boolean;
  /** A top-up of an eSIM that was cancelled before. It must not complete. */
  readonly mustNotComplete: boolean;
  /** It needed attention at the last check. */
  waits: boolean;
  /** The final status, which must not change. */
  ended: WorkStatus | undefined;
}

interface Pause {
  readonly id: string;
  /** Null: all kinds. */
  readonly kind: WorkKind | null;
}

export interface Model {
  readonly work: ModelledWork[];
  readonly pauses: Pause[];
}

/** True if work with this final status has changed nothing at the service. */
export function endedWithoutEffect(status: WorkStatus | undefined): boolean {
  return status === 'refused' || status === 'failed' || status === 'abandoned';
}

/** True while a pause covers work of this kind. Cancellations spend nothing. */
function isPaused({ pauses }: Model, kind: WorkKind): boolean {
  return KINDS[kind].isPurchase && pauses.some((pause) => pause.kind === null || pause.kind === kind);
}

/** Hold reasons that do not end by themselves in this test. Work held for them is abandoned at the end. */
const ABANDONED_AT_END: ReadonlySet<string> = new Set<FailureClass>([
  'package_unavailable',
  'price_above_limit',
  'esim_busy',
]);

const HELD_AT_GATE: ReadonlySet<string> = new Set<FailureClass>(['purchases_paused', 'service_down', 'rate_limited']);

export class World {
  readonly desk: OrderDesk;
  /** Ids, in the order of the model's work. */
  readonly ids: string[] = [];

  constructor(desk: OrderDesk) {
    this.desk = desk;
  }

  path(model: Model, index: number): string {
    const { kind } = model.work[index]!;
    return `${KINDS[kind].path}/${this.ids[index]!}`;
  }

  async show(model: Model, index: number): Promise<Shown> {
    const answer = await this.desk.stack.api.get(`${this.path(model, index)}?expand=operations`);
    expect(answer.status, answer.text).toBe(200);
    return answer.read(shownWork);
  }

  /** Requests an action on a piece of work. */
  act(model: Model, index: number, action: string, body: object): Promise<HttpAnswer> {
    return this.desk.stack.api.post(`${this.path(model, index)}/${action}`, body);
  }

  /** Starts with some delivered eSIMs, so that more commands are possible. */
  async begin(model: Model, esims: number): Promise<void> {
    await this.calm();
    for (let n = 0; n < esims; n += 1)
      this.accepted(model, await this.desk.place(PACKAGE.completedAtOnce), { kind: 'order' });
    for (const id of this.ids) await this.desk.reaches(id, 'completed');
    await this.check(model);
  }

  accepted(
    model: Model,
    id: string,
    { kind, limit = null, esim }: { kind: WorkKind; limit?: string | null; esim?: string },
  ): void {
    expect(this.ids).not.toContain(id);
    const isCancelled = model.work.some(
      (work) => work.kind === 'cancellation' && work.esim === esim && work.ended === 'completed',
    );
    this.ids.push(id);
    model.work.push({
      kind,
      limit,
      esim,
      stopped: isPaused(model, kind),
      mustNotComplete: kind === 'topup' && isCancelled,
      waits: false,
      ended: undefined,
    });
  }

  async resume(model: Model, { id }: Pause): Promise<void> {
    const reason = encodeURIComponent('the new catalogue is there');
    const answer = await this.desk.stack.api.delete(`/v1/purchase-gate/pauses/${id}?reason=${reason}`);
    expect(answer.status, answer.text).toBe(200);
    const index = model.pauses.findIndex((pause) => pause.id === id);
    model.pauses.splice(index, 1);
    for (const work of model.work) if (!isPaused(model, work.kind)) work.stopped = false;
  }

  /** Waits until work that was accepted under a pause is held by it. */
  async isHeldByPause(model: Model, index: number): Promise<void> {
    await waitFor(`${this.ids[index]} is held by a pause`, async () => {
      const { status, failure } = await this.show(model, index);
      return status === 'held' && failure?.class === 'purchases_paused';
    });
  }

  /** Waits until the service has accepted the work, or it is held, needs attention or has ended. */
  async isPastSubmission(model: Model, index: number): Promise<void> {
    await waitFor(
      `${this.ids[index]} is past its submission`,
      async () => !['accepted', 'submitting'].includes((await this.show(model, index)).status),
    );
  }

  /** Waits until released work is sent or held for another reason, during the pause. */
  async overridesPause(model: Model, index: number): Promise<void> {
    await waitFor(`${this.ids[index]} overrides the pause`, async () => {
      const isSent = (await this.desk.attemptsOf(this.ids[index]!)).some(({ sends }) => sends > 0);
      const { status, failure } = await this.show(model, index);
      return isSent || status !== 'held' || failure?.class !== 'purchases_paused';
    });
  }

  /** Removes all faults. The service accepts a reference twice, so only the key prevents a second sale. */
  async calm(): Promise<void> {
    await this.desk.simulator.calm();
    await this.desk.simulator.dialect('reusable_references');
  }

  /** Suppresses all reports of the service: events and reads. */
  async silence(): Promise<void> {
    await this.desk.silenceService();
    for (const endpoint of ['getTopup', 'listTopups', 'getVpnSubscription', 'listVpnSubscriptions'] as const) {
      await this.desk.simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
    }
  }

  async check(model: Model): Promise<void> {
    const shown = await Promise.all(model.work.map((_work, index) => this.show(model, index)));
    for (const [index, known] of model.work.entries()) {
      const { status, max_price: limit, esim_id: esim } = shown[index]!;
      const id = this.ids[index]!;
      if (known.ended !== undefined) expect(status, `${id} had ended`).toBe(known.ended);
      if (isFinal(status)) known.ended = status;
      known.waits = status === 'needs_attention';
      if (known.kind === 'order') known.esim = esim ?? undefined;
      if (known.kind === 'order' || known.kind === 'topup')
        expect(limit?.amount ?? null, `the limit of ${id}`).toBe(known.limit);
      if (known.mustNotComplete) expect(status, `${id} recharges an eSIM that is cancelled`).not.toBe('completed');
    }
    await checkInvariants(
      this.desk,
      model.work.map(({ stopped }, index) => ({ id: this.ids[index]!, stopped, shown: shown[index]! })),
    );
  }

  /** Compares the books with the wallet when no work is in progress. The balances must be equal. */
  async #reconcile(): Promise<void> {
    const { stack } = this.desk;
    expect(await becomeQuiet(stack)).toEqual([]);
    const report = await reconcileBooks(stack);
    const { findings } = (await stack.api.get(`/v1/wallet/reconciliations/${report}`)).read(
      z.object({ findings: z.array(z.looseObject({ kind: z.string() })) }),
    );
    expect(findings.filter(({ kind }) => kind === 'balance_differs' || kind === 'movement_missing')).toEqual([]);
  }

  /** Timelines of unfinished work, for the message of a failure. */
  async #timelinesOfOpen(model: Model): Promise<string> {
    const texts: string[] = [];
    for (const index of model.work.keys()) {
      const { status } = await this.show(model, index);
      if (isAtRest(status)) continue;
      texts.push((await this.desk.stack.api.get(`${this.path(model, index)}/timeline`)).text);
    }
    return texts.join('\n');
  }

  /** Removes all faults and lets the service finish. Then all work must end or need attention, with equal books. */
  async settle(model: Model): Promise<void> {
    const { desk } = this;
    await this.calm();
    while (model.pauses.length > 0) await this.resume(model, model.pauses[0]!);
    await waitFor(
      'all work has ended or needs attention',
      async () => {
        for (const { id, status } of await desk.simulator.orders())
          if (status === 'processing') await desk.simulator.completeOrder(id).catch(() => undefined);
        for (const { id, status } of await desk.simulator.topups())
          if (status === 'processing') await desk.simulator.completeTopup(id).catch(() => undefined);
        for (const { id, status, cancellation } of await desk.simulator.refunds()) {
          if (cancellation === 'processing') await desk.simulator.decideRefund(id, 'accept').catch(() => undefined);
          else if (status === 'processing') await desk.simulator.decideRefund(id, 'complete').catch(() => undefined);
        }
        const open: string[] = [];
        for (const index of model.work.keys()) {
          const { status, failure } = await this.show(model, index);
          if (isAtRest(status)) continue;
          if (status === 'held' && ABANDONED_AT_END.has(failure?.class ?? ''))
            await this.act(model, index, 'abandon', { reason: 'no longer wanted' });
          // The gate releases its work by itself. Other waits may be long.
          else if (status === 'held' && !HELD_AT_GATE.has(failure?.class ?? ''))
            await this.act(model, index, 'retry', { reason: 'the service is back' });
          open.push(`${this.ids[index]} is ${status} (${failure?.class ?? 'no failure'})`);
        }
        if (open.length > 0) throw new Error(open.join(', '));
        return true;
      },
      {
        timeoutMs: 480_000,
        everyMs: 300,
        context: async () => `${await this.#timelinesOfOpen(model)}\n${desk.stack.tails()}`,
      },
    );
    await this.check(model);
    for (const [index, id] of this.ids.entries()) {
      if ((await this.show(model, index)).status === 'needs_attention') desk.expectUnsettled(id);
    }
    // The reconciliation finds prices and refunds that the service did not report.
    await this.#reconcile();
    await desk.checkBooks();
  }
}
