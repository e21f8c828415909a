import { createHmac } from 'node:crypto';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

/** @throws Error when a receiver of webhooks answers 200 to a delivery that was signed with another secret. */
export async function requireRefusalOfForgery(url: string): Promise<void> {
  const body = '{"event":"ping"}';
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const forged = createHmac('sha256', 'not the secret').update(`${timestamp}.${body}`).digest('hex');
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      [HEADERS.event]: 'ping',
      [HEADERS.delivery]: 'forged',
      [HEADERS.timestamp]: timestamp,
      [HEADERS.signature]: `v1=${forged}`,
    },
  });
  if (answer.status !== 401) throw new Error(`a forged delivery was answered with ${answer.status} instead of 401`);
}
