/** Signed webhooks, by the signature rules of the specification. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { jsonOf, presented, type Plain } from '#test/foreign/service/present.ts';
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

export function eventBody(style: Style, kind: string, record: RecordKind, data: Plain): unknown {
  const shown = presented(style, record, data);
  const at = new Date().toISOString();
  const bodies: Readonly<Record<Style['event'], unknown>> = {
    event_data: { event: kind, created_at: at, data: shown },
    type_object: { id: `evt_${randomUUID()}`, type: kind, data: { [record]: shown } },
    event_type_named: { event_id: randomUUID(), event_type: kind, occurred_at: at, data: { [record]: shown } },
    bare_data: { type: kind, data: shown },
  };
  return bodies[style.event];
}

/** Sends webhooks until they are accepted. */
export class WebhookSender {
  readonly #secret: string;
  readonly #url: string;
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<void>>();

  constructor(url: string, secret: string) {
    this.#url = url;
    this.#secret = secret;
  }

  send(kind: string, body: unknown): void {
    const sent = this.#deliver(kind, Buffer.from(jsonOf(body)));
    this.#pending.add(sent);
    void sent.finally(() => this.#pending.delete(sent));
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#pending);
  }

  async #deliver(kind: string, body: Buffer): Promise<void> {
    const id = randomUUID();
    for (let tries = 0; tries < TRIES && !this.#ended.signal.aborted; tries += 1) {
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const digest = createHmac('sha256', this.#secret).update(`${timestamp}.`).update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-service-event': kind,
        'x-service-delivery': id,
        'x-service-timestamp': timestamp,
        'x-service-signature': `v1=${digest}`,
      };
      try {
        const { signal } = this.#ended;
        const answer = await fetch(this.#url, { method: 'POST', headers, body: new Uint8Array(body), signal });
        await answer.arrayBuffer();
        if (answer.ok) return;
      } catch {
        // The receiver is not reachable: the delivery is tried again.
      }
      await delay(PAUSE_MS, undefined, { signal: this.#ended.signal }).catch(() => undefined);
    }
  }
}

const TRIES = 20;
const PAUSE_MS = 250;
