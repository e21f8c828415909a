import { describe, expect, it } from 'vitest';
import type { FailureClass } from '#domain/work/failure.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import type { WebhookSecretAnswer } from '#upstream/contract.ts';
import { changeWebhookSecret, type SecretChange } from '#upstream/webhook-secret.ts';

type Answer = OptionalResult<WebhookSecretAnswer>;

const made = (secret: string): Answer => ({ ok: true, status: 201, value: { secret } });
const failed = (failure: FailureClass, code?: ServiceFailure['code']): ServiceFailure => ({
  ok: false,
  kind: 'failure',
  failure,
  detail: `The service failed with ${failure}.`,
  ...(code === undefined ? {} : { code }),
});
const exists = failed('key_or_reference_used');
const missing = failed('invalid_request', 'not_found');

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
  const result = await changeWebhookSecret(
    { createWebhookSecret: next('create'), rotateWebhookSecret: next('rotate') },
    store,
    kind,
  );
  return { result, calls, stored };
}

describe('a webhook secret that the service shows once', () => {
  it.each(['create', 'rotate'] as const)('is stored by %s, and the result does not contain it', async (kind) => {
    const { result, calls, stored } = await change(kind, [made('whsec_shown_once')]);
    expect({ calls, stored }).toEqual({ calls: [kind], stored: ['whsec_shown_once'] });
    expect(result).toEqual({ ok: true, stored: 1 });
  });

  it('is not requested while another process changes it', async () => {
    expect(await change('rotate', [], { free: false })).toEqual({
      result: { ok: false, reason: 'busy' },
      calls: [],
      stored: [],
    });
  });
});

describe('a change after a lost answer', () => {
  it.each<FailureClass>(['timeout', 'connection_lost', 'server_error', 'unreadable_answer'])(
    '(%s) rotates, because the new secret is unknown',
    async (failure) => {
      for (const kind of ['create', 'rotate'] as const) {
        const { calls, stored, result } = await change(kind, [failed(failure), made('whsec_second')]);
        expect({ calls, stored, ok: result.ok }).toEqual({
          calls: [kind, 'rotate'],
          stored: ['whsec_second'],
          ok: true,
        });
      }
    },
  );

  it('of an unexecuted creation creates again', async () => {
    const { calls, stored } = await change('create', [failed('connection_lost'), missing, made('whsec_first')]);
    expect({ calls, stored }).toEqual({ calls: ['create', 'rotate', 'create'], stored: ['whsec_first'] });
  });

  it('reports a possible unknown secret after a refusal, which proves nothing', async () => {
    const { result, stored } = await change('rotate', [failed('timeout'), failed('not_sent')]);
    expect({ result, stored }).toEqual({
      result: { ok: false, reason: 'unknown', failure: failed('not_sent') },
      stored: [],
    });
  });

  it('stops without any answer', async () => {
    const { result, calls } = await change(
      'create',
      Array.from({ length: 4 }, () => failed('timeout')),
    );
    expect(result).toEqual({ ok: false, reason: 'unknown', failure: failed('timeout') });
    expect(calls).toEqual(['create', 'rotate', 'rotate', 'rotate']);
  });
});

describe('a service without a new secret', () => {
  it('keeps an existing secret', async () => {
    expect(await change('create', [exists])).toEqual({
      result: { ok: false, reason: 'exists' },
      calls: ['create'],
      stored: [],
    });
  });

  it.each<FailureClass>(['unauthorized', 'not_approved', 'rate_limited', 'not_sent'])(
    'because of %s has definitely created none',
    async (failure) => {
      const { result, calls } = await change('create', [failed(failure)]);
      expect({ result, calls }).toEqual({
        result: { ok: false, reason: 'refused', failure: failed(failure) },
        calls: ['create'],
      });
    },
  );
});
