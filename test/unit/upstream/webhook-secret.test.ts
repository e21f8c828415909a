import { describe, expect, it } from 'vitest';
import type { FailureClass } from '#domain/work/failure.ts';
import { refused as failed } from '#test/support/service-session.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { WebhookSecretAnswer } from '#upstream/contract.ts';
import { changeWebhookSecret, type SecretChange } from '#upstream/webhook-secret.ts';

type Answer = OptionalResult<WebhookSecretAnswer>;

const made = (secret: string): Answer => ({ ok: true, status: 201, value: { secret } });
const exists = failed('key_or_reference_used');
const missing = failed('invalid_request', { code: 'not_found' });

/** A service with these answers in turn. The store keeps each secret. */
async function change(kind: SecretChange, answers: readonly Answer[], options: { free?: boolean } = {}) {
  const calls: SecretChange[] = [];
  const stored: string[] = [];
  const next = (call: SecretChange) => async () => {
    const answer = answers[calls.length];
    calls.push(call);
    if (answer === undefined) throw new Error(`call ${calls.length} is unexpected`);
    return answer;
  };
  const store = {
    lock: async () => options.free ?? true,
    replace: async (secret: string) => {
      stored.push(secret);
      return stored.length;
    },
  };
  const client = { createWebhookSecret: next('create'), rotateWebhookSecret: next('rotate') };
  return { result: await changeWebhookSecret(client, store, kind), calls, stored };
}

describe('a webhook secret that the service shows once', () => {
  it.each(['create', 'rotate'] as const)('is stored by %s, and the result does not contain it', async (kind) => {
    const { result, calls, stored } = await change(kind, [made('whsec_shown_once')]);
    expect({ calls, stored }).toEqual({ calls: [kind], stored: ['whsec_shown_once'] });
    expect(result).toEqual({ ok: true, stored: 1 });
  });

  it('is not requested while another process changes it', async () => {
    const result = { ok: false, reason: 'busy' };
    expect(await change('rotate', [], { free: false })).toEqual({ result, calls: [], stored: [] });
  });
});

describe('a change after a lost answer', () => {
  const lost: FailureClass[] = ['timeout', 'connection_lost', 'server_error', 'unreadable_answer'];
  it.each(lost)('(%s) rotates, because the new secret is unknown', async (failure) => {
    for (const kind of ['create', 'rotate'] as const) {
      const { calls, stored, result } = await change(kind, [failed(failure), made('whsec_second')]);
      expect([result.ok, calls, stored]).toEqual([true, [kind, 'rotate'], ['whsec_second']]);
    }
  });

  it('of an unexecuted creation creates again', async () => {
    const { calls, stored } = await change('create', [failed('connection_lost'), missing, made('whsec_first')]);
    expect({ calls, stored }).toEqual({ calls: ['create', 'rotate', 'create'], stored: ['whsec_first'] });
  });

  it('reports a possible unknown secret after a refusal, which proves nothing', async () => {
    const { result, stored } = await change('rotate', [failed('timeout'), failed('not_sent')]);
    expect(result).toEqual({ ok: false, reason: 'unknown', failure: failed('not_sent') });
    expect(stored).toEqual([]);
  });

  it('stops without any answer', async () => {
    const timeout = failed('timeout');
    const { result, calls } = await change('create', [timeout, timeout, timeout, timeout]);
    expect(result).toEqual({ ok: false, reason: 'unknown', failure: timeout });
    expect(calls).toEqual(['create', 'rotate', 'rotate', 'rotate']);
  });
});

describe('a service without a new secret', () => {
  it('keeps an existing secret', async () => {
    const result = { ok: false, reason: 'exists' };
    expect(await change('create', [exists])).toEqual({ result, calls: ['create'], stored: [] });
  });

  const refusals: FailureClass[] = ['unauthorized', 'not_approved', 'rate_limited', 'not_sent'];
  it.each(refusals)('because of %s has definitely created none', async (failure) => {
    const { result, calls } = await change('create', [failed(failure)]);
    expect(result).toEqual({ ok: false, reason: 'refused', failure: failed(failure) });
    expect(calls).toEqual(['create']);
  });
});
