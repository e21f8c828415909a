import { isDefinite } from '#domain/work/failure.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { failed, type ServiceFailure } from '#upstream/client/error-mapping.ts';

export type SecretChange = 'create' | 'rotate';

export type SecretRefusal =
  /** `exists`: `create` only; the service does not show its secret again. `missing`: `rotate` only. */
  | { readonly ok: false; readonly reason: 'exists' | 'missing' | 'busy' | 'unsupported' }
  | { readonly ok: false; readonly reason: 'refused'; readonly failure: ServiceFailure }
  /** A created secret may never have been received. Only a later rotation replaces it. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly failure: ServiceFailure };

type SecretCalls = Pick<ServiceClient, 'createWebhookSecret' | 'rotateWebhookSecret'>;

/**
 * The service shows the secret in one answer only (specification, Authentication 6). After a lost answer it rotates, or
 * creates one if none exists.
 * @throws the error of the store. The service may then have a secret that was not stored: rotate again.
 */
export async function changeWebhookSecret<Stored>(
  service: SecretCalls,
  store: { lock(): Promise<boolean>; replace(secret: string): Promise<Stored> },
  change: SecretChange,
): Promise<{ readonly ok: true; readonly stored: Stored } | SecretRefusal> {
  if (!(await store.lock())) return { ok: false, reason: 'busy' };
  const made = await makeSecret(service, change);
  return made.ok ? { ok: true, stored: await store.replace(made.secret) } : made;
}

// A lost creation, a rotation that finds no secret, a second creation, and a rotation if that is lost too.
const MOST_CALLS = 4;

async function makeSecret(
  service: SecretCalls,
  change: SecretChange,
): Promise<{ readonly ok: true; readonly secret: string } | SecretRefusal> {
  let step = change;
  let lost: ServiceFailure | undefined;
  for (let call = 1; call <= MOST_CALLS; call += 1) {
    const answer = await (step === 'create' ? service.createWebhookSecret() : service.rotateWebhookSecret());
    if (answer.ok) return { ok: true, secret: answer.value.secret };
    if (answer.kind === 'unsupported') return { ok: false, reason: 'unsupported' };

    if (step === 'create' && answer.failure === 'key_or_reference_used') {
      if (lost === undefined) return { ok: false, reason: 'exists' };
      step = 'rotate';
    } else if (step === 'rotate' && answer.code === 'not_found') {
      if (change === 'rotate') return { ok: false, reason: 'missing' };
      step = 'create';
    } else if (isDefinite(answer.failure)) {
      return { ok: false, reason: lost === undefined ? 'refused' : 'unknown', failure: answer };
    } else {
      lost = answer;
      step = 'rotate';
      // The next answer would have the same defect.
      if (answer.failure === 'contract_drift') break;
    }
  }
  return { ok: false, reason: 'unknown', failure: lost ?? NEVER_SETTLED };
}

const NEVER_SETTLED = failed(
  'unreadable_answer',
  'The service alternately reports that it has a webhook secret and that it has none.',
);
