import { duration } from '#cli/doctor/duration.ts';
import { type Finding, ok, warning } from '#cli/doctor/finding.ts';
import type { ServiceConfig } from '#config/config.ts';
import { counted } from '#domain/text.ts';
import type { SharedToken } from '#upstream/client/session.ts';

const DAY_MS = 86_400_000;
// Tokens are renewed at four fifths of their lifetime. With a shorter one, a brief failure of the login stops
// purchases.
const SHORT_MS = 10 * 60_000;
/**
 * A service may round the lifetime or count from another moment. Below this share it granted less than we requested.
 */
const GRANTED_SHARE = 0.9;

/** Checks the lifetime of the token of a fresh login. */
export function checkToken({ expiresAt, renewedAt }: SharedToken, { tokenDays }: ServiceConfig): Finding {
  if (expiresAt === undefined) return ok('the service states no expiry; a token that it refuses is renewed');
  const lifetimeMs = expiresAt - renewedAt;
  if (lifetimeMs < SHORT_MS) {
    const advice =
      'Set SERVICE_TOKEN_DAYS (production), or ask the service for longer ones. With this lifetime a brief failure ' +
      'of the login stops purchases.';
    return warning(`${duration(lifetimeMs)} only`, advice);
  }
  if (tokenDays !== undefined && lifetimeMs < tokenDays * DAY_MS * GRANTED_SHARE) {
    const advice = 'Nothing depends on it: tokens are renewed in time. The service may have a maximum.';
    return warning(`${duration(lifetimeMs)}, and SERVICE_TOKEN_DAYS asks for ${counted(tokenDays, 'day')}`, advice);
  }
  return ok(`${duration(lifetimeMs)}, renewed in time`);
}
