import { isDefinite } from '#domain/work/failure.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** Make the first secret, or replace it. */
export type SecretChange = 'create' | 'rotate';

/** Where a new secret is stored; see `db/service/webhook-secrets.ts`. */
export interface SecretStore<Stored> {
  /** @returns false when somebody else is changing the secret. */
  lock(): Promise<boolean>;
  /** Stores a secret as the newest. */
  replace(secret: string): Promise<Stored>;
}

/** Why there is no new secret. */
export type SecretRefusal =
  /** `create` only: the service has one, and shows it to nobody any more. */
  | { readonly ok: false; readonly reason: 'exists' }
  /** `rotate` only: the service has none. */
  | { readonly ok: false; readonly reason: 'missing' }
  /** Somebody else is changing it at this moment. */
  | { readonly ok: false; readonly reason: 'busy' }
  /** The service cannot do that by a call. */
  | { readonly ok: false; readonly reason: 'unsupported' }
  /** The service has made none. */
  | { readonly ok: false; readonly reason: 'refused'; readonly failure: ServiceFailure }
  /** The service may have made one that nobody has seen; only a later rotation ends that. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly failure: ServiceFailure };

export type SecretChangeResult<Stored> = { readonly ok: true; readonly stored: Stored } | SecretRefusal;

type SecretCalls = Pick<ServiceClient, 'createWebhookSecret' | 'rotateWebhookSecret'>;

/**
 * Has the service make a webhook secret and stores it at that moment: it is shown in that one answer only, and nobody
 * but the store gets it (specification, Authentication 6).
 *
 * After a lost answer it rotates: whatever was made is of no use once nobody has seen it. Where that shows that nothing
 * was made, it begins again.
 *
 * @throws what the store throws. Once the service was asked, it may then have a secret that nobody knows: rotate again.
 */
export async function changeWebhookSecret<Stored>(
  service: SecretCalls,
  store: SecretStore<Stored>,
  change: SecretChange,
): Promise<SecretChangeResult<Stored>> {
  if (!(await store.lock())) return { ok: false, reason: 'busy' };
  const made = await makeSecret(service, change);
  return made.ok ? { ok: true, stored: await store.replace(made.secret) } : made;
}

// A lost creation, the rotation that finds nothing, another creation, and a rotation should that be lost as well.
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

    if (step === 'create' && answer.failure === 'key_or_reference_known') {
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
      // The next answer would lack the same.
      if (answer.failure === 'contract_drift') break;
    }
  }
  return { ok: false, reason: 'unknown', failure: lost ?? NEVER_SETTLED };
}

const NEVER_SETTLED: ServiceFailure = {
  ok: false,
  kind: 'failure',
  failure: 'unreadable_answer',
  detail: 'The service says in turn that there is a webhook secret and that there is none.',
};
