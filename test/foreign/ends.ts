/** Places work of each kind and compares its end with the expected one. */
import { expect } from 'vitest';
import { KINDS, type ForeignCase, type Kind } from '#test/foreign/cases.ts';
import { ForeignRun } from '#test/foreign/run-case.ts';

/** Runs a case: every kind must have its end, and no work more than one open debit. */
export async function expectEnds(foreign: ForeignCase): Promise<void> {
  await using run = await ForeignRun.start(foreign);
  const esims: string[] = [];
  for (const kind of KINDS) {
    const end = foreign.ends[kind];
    if (end === undefined) continue;
    if (end === 'works') await works(run, kind, esims);
    else if (end === 'refused') await refused(run, kind, esims);
    else if ('held' in end) await held(run, kind, end.held);
    else if ('beside' in end) {
      await works(run, kind, esims);
      await expect.poll(async () => await run.openCases(), { message: 'the open cases' }).toContain(end.beside);
    } else await sentOnce(run, kind, end, esims);
  }
  expect(await run.violations()).toEqual([]);
}

async function works(run: ForeignRun, kind: Kind, esims: string[]): Promise<void> {
  // One eSIM is recharged, and another one cancelled.
  const count = kind === 'order' ? 2 : 1;
  for (let each = 0; each < count; each += 1) {
    const id = await run.place(kind, esims.at(kind === 'topup' ? 0 : -1));
    const done = await run.reaches(kind, id, kind === 'vpn_subscription' ? 'active' : 'completed');
    if (kind === 'order') esims.push(done.textAt('esim_id'));
  }
  const { supplier, failures } = run.service.behaviour;
  // A purchase that failed and provably cost nothing is made once more.
  const failed = kind === 'order' && supplier !== 'delivers' ? failures : 0;
  expect(run.requests(kind)).toBe(count + failed);
}

async function held(run: ForeignRun, kind: Kind, field: string): Promise<void> {
  // A top-up needs an eSIM, which could not be bought.
  if (kind !== 'topup') {
    const order = await run.reaches(kind, await run.place(kind), 'held');
    expect(order.at('failure', 'class')).toBe('purchases_paused');
  }
  await expect.poll(async () => await run.whyHeld(kind), { message: `why ${kind} is held` }).toContain(field);
  expect(run.requests(kind)).toBe(0);
}

async function refused(run: ForeignRun, kind: Kind, esims: readonly string[]): Promise<void> {
  await run.reaches(kind, await run.place(kind, esims.at(-1)), 'refused');
  expect(run.requests(kind)).toBe(0);
}

async function sentOnce(
  run: ForeignRun,
  kind: Kind,
  end: { readonly case: string } | { readonly canary: string },
  esims: readonly string[],
): Promise<void> {
  const id = await run.place(kind, esims.at(-1));
  await run.reaches(kind, id, 'needs_attention');
  expect(await run.caseOf(kind, id)).toBe('case' in end ? end.case : end.canary);
  if ('canary' in end) await run.reaches(kind, await run.place(kind, esims.at(-1)), 'held');
  expect(run.requests(kind)).toBe(1);
}
