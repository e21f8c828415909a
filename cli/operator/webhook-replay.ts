import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { ApiCommands } from '#cli/api/api-client.ts';
import { UserError } from '#cli/terminal/user-error.ts';

export interface ReplayOptions extends ApiOptions {
  readonly event?: string;
  readonly delivery?: string;
  readonly since?: string;
  readonly until?: string;
  readonly which?: string;
}

const replayed = z.object({ queued: z.int(), next_since: z.string().nullable() });

const PATH = '/v1/webhook-endpoints';

export class WebhookEndpointCommands extends ApiCommands {
  /** Repeats the call until everything is queued. */
  async replay(id: string, { event, delivery: one, since, until, which, ...options }: ReplayOptions): Promise<void> {
    if ([event, one, since].filter((each) => each !== undefined).length !== 1) {
      throw new UserError('Exactly one of --event, --delivery and --since is needed.', 'Give one of them.');
    }
    const api = this.api(options);
    let queued = 0;
    for (let from = since; ;) {
      const body = { event_id: event, delivery_id: one, since: from, until, which };
      const answer = await api.call({
        path: `${PATH}/${encodeURIComponent(id)}/replay`,
        body,
        idempotencyKey: randomUUID(),
        answer: replayed,
      });
      queued += answer.queued;
      if (answer.next_since === null) break;
      from = answer.next_since;
    }
    this.say(queued === 1 ? 'One delivery is queued.' : `${queued} deliveries are queued.`);
  }
}
