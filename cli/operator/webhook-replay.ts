import { randomUUID } from 'node:crypto';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiClient } from '#cli/api/api-client.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { WebhookReplayResult } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

export interface ReplayOptions extends ApiOptions {
  readonly event?: string;
  readonly delivery?: string;
  readonly since?: string;
  readonly until?: string;
  readonly which?: string;
}

/** Repeats the call until everything is queued. */
export async function replayEvents(
  id: string,
  { event, delivery, since, until, which, ...options }: ReplayOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  if ([event, delivery, since].filter((each) => each !== undefined).length !== 1) {
    throw new UserError('Exactly one of --event, --delivery and --since is needed.', 'Give one of them.');
  }
  const api = apiClient(options, environment);
  let queued = 0;
  for (let from = since; ;) {
    const answer = await api.call<WebhookReplayResult>({
      path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/replay`,
      body: { event_id: event, delivery_id: delivery, since: from, until, which },
      idempotencyKey: randomUUID(),
    });
    queued += answer.queued;
    // A missing one would repeat the call without an end.
    if (answer.next_since == null) break;
    from = answer.next_since;
  }
  printLine(output, queued === 1 ? 'One delivery is queued.' : `${queued} deliveries are queued.`);
}
