import { readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { PROJECT } from '#test/support/compose.ts';
import { browserAvailable, keepScreenshot, launchBrowser, openPage } from '#test/support/network/browser.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import {
  startClusterWithUi,
  startDevelopmentServerWithUi,
  type TemporalWithUi,
} from '#test/support/servers/temporal-with-ui.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { abandonUpdate } from '#workflows/messages.ts';

const REBOUND = 'evil.example';
/** The columns of the list, as the runbook sets them. */
const SET_COLUMNS =
  /```js\n(localStorage[^]*?)```/.exec(readFileSync(join(PROJECT, 'docs/runbook.md'), 'utf8'))?.[1] ?? '';

const SERVERS = [
  ['npm-start', startDevelopmentServerWithUi],
  ['a-cluster', startClusterWithUi],
] as const;

describe.runIf(browserAvailable()).each(SERVERS)('the Temporal UI of %s in a browser', (server, startTemporal) => {
  let temporal: TemporalWithUi;
  let codec: TestProcess;
  let stack: Stack;
  let browser: Browser;
  let uiUrl: string;
  let codecUrl: string;

  beforeAll(async () => {
    const codecPort = await freePort();
    codecUrl = `http://127.0.0.1:${codecPort}`;
    temporal = await startTemporal(codecUrl);
    ({ uiUrl } = temporal);
    // A wait that is over before it begins, because a step was recorded slowly, is not in the history.
    stack = await startStack({ temporal, environment: { ...RARE_UPKEEP, 'purchase.settle_delay': '4s' } });
    codec = await startProcess({
      name: 'codec',
      script: 'platform/temporal/codec-server-main.ts',
      environment: {
        ENCRYPTION_KEYS: stack.environments.codec['ENCRYPTION_KEYS'] ?? '',
        CODEC_PORT: String(codecPort),
        CODEC_ALLOWED_ORIGIN: uiUrl,
      },
      readyUrl: `http://127.0.0.1:${codecPort}/healthz`,
    });
    // A name that an attacker has pointed at this machine.
    browser = await launchBrowser([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`]);
  });

  // An open page of the UI goes on reading and drawing, and takes the time of the next test.
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  afterAll(async () => {
    await browser?.close();
    await codec?.kill();
    await stack?.stop();
    await temporal?.[Symbol.asyncDispose]();
  });

  /** An order that the rate limit of the service holds. @returns its id. */
  const heldOrder = async (reference: string): Promise<string> => {
    await stack.simulator.post('/simulator/faults', {
      target: 'request',
      endpoint: 'createOrder',
      fault: { kind: 'rate_limited', retry_after: 240 },
    });
    const held = (await stack.order({ package_id: 1003, external_order_id: reference })).textAt('id');
    await stack.orderReaches(held, ['held']);
    return held;
  };

  const open = async (path: string): Promise<Page> => {
    const page = await openPage(browser, { width: 1700, height: 900 });
    await page.addInitScript({ content: SET_COLUMNS.replace('default', JSON.stringify(stack.temporal.namespace)) });
    await page.goto(`${uiUrl}/namespaces/${stack.temporal.namespace}/${path}`, { waitUntil: 'domcontentloaded' });
    return page;
  };

  it('lists orders with the attributes that show the reason of a hold or case', async () => {
    const completed = await stack.order({ package_id: 1001, external_order_id: 'shop-1001' });
    await stack.orderReaches(completed.textAt('id'), ['completed']);
    await stack.simulator.post('/simulator/behaviour', { outcome: 'failed_at_once', credit_after_ms: null, count: 1 });
    const withCase = await stack.order({ package_id: 1002, external_order_id: 'shop-1002' });
    await stack.orderReaches(withCase.textAt('id'), ['needs_attention']);
    await heldOrder('shop-1003');

    // The page shows the list at the time of its load, and visibility is eventually consistent.
    await using operator = await TemporalOperator.connect(stack);
    for (const query of [
      "ExternalReference = 'shop-1002' AND NeedsAttention = true",
      "ExternalReference = 'shop-1003' AND FailureClass = 'rate_limited'",
    ])
      await waitFor(`${query} is listed`, async () => (await operator.client.workflow.count(query)).count === 1);
    const page = await open(`workflows?query=${encodeURIComponent("Product = 'esim-order'")}`);
    const row = (text: string) => page.locator('tr', { hasText: text });
    await row('shop-1003').waitFor();
    await row('shop-1002').getByText('supplier_failed').waitFor();
    await row('shop-1002').getByText('failed_but_charged').waitFor();
    await row('shop-1003').getByText('held').waitFor();
    await row('shop-1003').getByText('rate_limited').waitFor();
    await keepScreenshot(page, `temporal-ui-list-of-${server}`);

    const stuck = await open(`workflows?query=${encodeURIComponent('NeedsAttention = true')}`);
    await stuck.locator('tr', { hasText: 'shop-1002' }).waitFor();
    expect(await stuck.locator('tr', { hasText: 'shop-1001' }).count()).toBe(0);
  });

  it('shows one order decoded: its input, its state and the next step', async () => {
    const orderId = (await stack.api.get('/v1/orders?external_order_id=shop-1002')).textAt('data', 0, 'id');
    const list = await open(`workflows?query=${encodeURIComponent("ExternalReference = 'shop-1002'")}`);
    await list.getByRole('link', { name: `order/${orderId}` }).click();
    await list.getByText('"work"').first().waitFor();
    await list.getByText('Before read 1 of the wallet').first().waitFor();
    await list.getByText('Waits for a person (failed_but_charged)').first().waitFor();
    await keepScreenshot(list, `temporal-ui-history-of-${server}`);

    await list.getByText('User Metadata').click();
    // The history, which the page has replaced, contains the case as well.
    await waitFor('the current details are shown', () => shownInAFrame(list, 'Ask the service for the credit'));
    expect(await shownInAFrame(list, 'failed_but_charged')).toBe(true);
    expect(await shownInAFrame(list, 'Package 1002 for')).toBe(true);
    await keepScreenshot(list, `temporal-ui-order-of-${server}`);
  });

  it('lets an operator send an update, which the codec server encrypts', async () => {
    const orderId = await heldOrder('shop-1004');
    await using operator = await TemporalOperator.connect(stack);
    const { runId } = await operator.order(orderId).describe();
    const page = await open(`workflows/${encodeURIComponent(`order/${orderId}`)}/${runId}/history`);
    await sendUpdate(page, 'abandon', { by: 'Ada', reason: 'typed into the UI' });
    await stack.orderReaches(orderId, ['abandoned']);
    const audit = await stack.api.get(`/v1/audit-log?subject_id=${orderId}`);
    expect(audit.text).toContain('temporal/Ada');
    expect((await operator.rawTraces(orderId)).toString('latin1')).not.toContain('typed into the UI');
  });

  it('refuses a web page with a rebound host name, and its HTTP API refuses every page', async () => {
    const { port } = new URL(uiUrl);
    const page = await openPage(browser, { width: 400, height: 300 });
    const rebound = await page.goto(`http://${REBOUND}:${port}/api/v1/namespaces`);
    expect(rebound?.status()).toBe(403);
    const [namespaces, codecAnswer, other] = await page.evaluate(
      async ([ui, codecUrl, host]) => {
        const status = (url: string, init: RequestInit) =>
          fetch(url, init).then(
            (answer) => answer.status,
            () => 'blocked',
          );
        const post = { method: 'POST', body: '{"payloads":[]}' };
        return Promise.all([
          status('/api/v1/namespaces', post),
          status(`http://${host}:${new URL(codecUrl).port}/encode`, post),
          status(`${ui}/api/v1/namespaces`, post),
        ]);
      },
      [uiUrl, codecUrl, REBOUND] as const,
    );
    expect(namespaces).toBe(403);
    expect([codecAnswer, other]).toEqual(['blocked', 'blocked']);
    for (const open of (await Promise.all(temporal.pids.map(listeningPorts))).flat())
      expect(await postAsAnyPage(open), open).not.toContain('workflow not found');
  });

  it('shows the reason of a refused update', async () => {
    const orderId = (await stack.api.get('/v1/orders?external_order_id=shop-1002')).textAt('data', 0, 'id');
    await using operator = await TemporalOperator.connect(stack);
    const refused = operator.order(orderId).executeUpdate(abandonUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
    const cause = { message: expect.stringContaining('must report the outcome') as string };
    await expect(refused).rejects.toMatchObject({ cause });
    const { runId } = await operator.order(orderId).describe();
    const page = await open(`workflows/${encodeURIComponent(`order/${orderId}`)}/${runId}/history`);
    await page.getByText('First the service must report the outcome').first().waitFor();
    await keepScreenshot(page, `temporal-ui-refused-of-${server}`);
  });
});

/** The UI renders the Markdown of a workflow in separate frames. */
async function shownInAFrame(page: Page, text: string): Promise<boolean> {
  const counts = await Promise.all(page.frames().map((frame) => frame.getByText(text).count()));
  return counts.some((count) => count > 0);
}

/** As a user does it: the menu of actions, the form, the button. */
async function sendUpdate(page: Page, name: string, input: Record<string, string>): Promise<void> {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.getByRole('menuitem', { name: 'Send an Update' }).click();
  const form = page.locator('dialog[open]');
  await form.locator('[data-testid=update-select-button]:visible').first().click();
  const option = form.locator('[role=option]:visible', { hasText: new RegExp(`^\\s*${name}\\b`) });
  await option.first().click();
  await form.locator('[data-language=json]:visible').first().click();
  // Inserted as one text, because the editor completes typed brackets.
  await page.keyboard.insertText(JSON.stringify(input));
  // The editor formats the text when it loses the focus, and the form grows.
  await form.locator('input:visible').first().focus();
  await form.locator('.cm-line', { hasText: '"reason": ' }).first().waitFor();
  await keepScreenshot(page, 'temporal-ui-update');
  // By the keyboard, because the button moves while the form grows.
  await form.getByRole('button', { name: 'Submit' }).press('Enter');
}

/** `address:port` of each TCP socket of a process (Linux only, otherwise none). */
async function listeningPorts(pid: number): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
  );
  const sockets = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  return (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state !== '0A' || !sockets.has(inode)) return [];
      const [address = '', port = ''] = local.split(':');
      return [`${Buffer.from(address, 'hex').toReversed().join('.')}:${Number.parseInt(port, 16)}`];
    });
}

/** A request that a plain form of any web page can send: without own headers and preflight. */
async function postAsAnyPage(address: string): Promise<string> {
  const path = '/api/v1/namespaces/default/workflows/x/signal/serviceObserved';
  const headers = { 'Content-Type': 'text/plain', Origin: 'http://evil.example' };
  return fetch(`http://${address}${path}`, { method: 'POST', headers, body: '{}' }).then(
    (answer) => answer.text(),
    String,
  );
}
