/** The hold before the first purchase in production, on the whole product. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { checkFirstPurchaseCheck } from '#cli/doctor/checks/offer.ts';
import { COMPATIBLE, NOT_COMPATIBLE, checkContractFile } from '#cli/service/contract.ts';
import { readFirstPurchaseCheck } from '#fulfilment/gate/pauses.ts';
import { captured } from '#test/support/cli-output.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import type { ProcessSettings } from '#test/support/servers/policy-files.ts';
import { type Stack, startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const PRODUCTION = { ...RARE_UPKEEP, SERVICE_MODE: 'production' };
/** The shapes are unknown, because there is no document and no purchase. */
const UNSEEN = { ...PRODUCTION, SERVICE_MISSING_CAPABILITIES: 'openapi_download' };
const APPROVED = { SIMULATOR_APPROVED: 'true', SIMULATOR_PRODUCTION_BALANCE: '1000.00' };

async function start(environment: ProcessSettings) {
  const stack = await startStack({ environment, simulator: APPROVED });
  onTestFinished(() => stack.stop());
  return { stack, desk: new OrderDesk(stack) };
}

const pausePage = z.object({
  data: z.array(z.object({ id: z.string(), kind: z.string(), origin: z.string(), released_at: z.string().nullable() })),
});
const pausesOf = async ({ api }: Stack) =>
  pausePage.parse((await api.get('/v1/purchase-gate/pauses?ended=true')).body).data;
const doctorOf = async ({ database }: Stack) =>
  checkFirstPurchaseCheck({ mode: 'production' }, { firstPurchaseCheck: await database.run(readFirstPurchaseCheck) });

/** An order that is held, with the sentence that its caller reads. */
async function heldOrder(desk: OrderDesk): Promise<{ readonly id: string; readonly detail: string }> {
  const id = await desk.place(PACKAGE.completedAtOnce);
  const held = await desk.reaches(id, 'held');
  expect(held.at('failure', 'class')).toBe('purchases_paused');
  return { id, detail: held.textAt('failure', 'detail') };
}

describe('before the shapes are known in production', () => {
  it('an order names the command to run, and completes after an operator released the pause', async () => {
    const { stack, desk } = await start(UNSEEN);
    const { id, detail } = await heldOrder(desk);
    expect(detail).toMatch(
      /^Buying is paused \(pause_.*, by worker\): The shapes of the service's answers have not been seen for orders/,
    );
    expect(detail).toContain('npx reseller contract check openapi.json --record');
    expect(await doctorOf(stack)).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('orders: held by pause_'),
      advice: expect.stringContaining('npx reseller sandbox tour'),
    });

    const pause = (await pausesOf(stack)).find(({ kind }) => kind === 'order');
    expect(pause).toMatchObject({ origin: 'first_purchase_check', released_at: null });
    const reason = 'We have tried it by hand.';
    const path = `/v1/purchase-gate/pauses/${pause?.id}?reason=${encodeURIComponent(reason)}`;
    expect((await stack.api.delete(path)).at('release_reason')).toBe(reason);
    await desk.reaches(id, 'completed');
    await stack.process('worker').stop();
    await stack.start('worker');
    await desk.complete(PACKAGE.completedAtOnce);
    expect((await pausesOf(stack)).filter(({ kind }) => kind === 'order')).toHaveLength(1);
  });

  it('an order completes after the document of the service was recorded by hand', async () => {
    const { stack, desk } = await start(UNSEEN);
    const { id } = await heldOrder(desk);
    const file = join(temporaryFolder('contract'), 'openapi.json');
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/vpn/orders');
    const record = async (content: object) => {
      writeFileSync(file, JSON.stringify(content));
      const output = captured();
      const outputs = { stdout: output, stderr: output };
      const code = await checkContractFile(file, { record: true }, stack.environments.worker, outputs);
      return { code, text: output.text() };
    };
    const first = await record(document);
    expect(first.code).toBe(NOT_COMPATIBLE);
    expect(first.text).toMatch(/^orders: released\. The OpenAPI document of the service/m);
    expect(first.text).toMatch(/^VPN subscriptions: held\. .*POST \/vpn\/orders: is not in the document/m);
    await desk.reaches(id, 'completed');
    const second = await record(contractOpenApi());
    expect(second).toMatchObject({ code: COMPATIBLE, text: expect.stringMatching(/^VPN subscriptions: released\./m) });
    expect(await doctorOf(stack)).toMatchObject({ status: 'ok' });
  });
});

it('an order in production completes without an operator when the document of the service matches', async () => {
  const { stack, desk } = await start(PRODUCTION);
  await desk.complete(PACKAGE.completedAtOnce);
  await expect.poll(async () => (await pausesOf(stack)).filter(({ released_at: at }) => at === null)).toEqual([]);
  const released = { status: 'ok', detail: expect.stringContaining('orders: released by worker') };
  expect(await doctorOf(stack)).toMatchObject(released);
});
