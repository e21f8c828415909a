import * as z from 'zod';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { ApiCommands } from '#cli/api/api-client.ts';
import { type Columns, flexible, text, time } from '#cli/terminal/columns.ts';
import { type FormatOptions, printItems } from '#cli/terminal/print-items.ts';

const letter = z.looseObject({
  id: z.string(),
  message: z.string(),
  subject_kind: z.string(),
  subject_id: z.string(),
  error: z.string(),
  tries: z.int(),
  received_at: z.string(),
});
const COLUMNS: Columns<z.output<typeof letter>> = {
  received_at: time((each) => each.received_at),
  id: text((each) => each.id),
  message: text((each) => each.message),
  subject_kind: text((each) => each.subject_kind),
  subject_id: text((each) => each.subject_id),
  tries: text((each) => each.tries),
  error: flexible((each) => each.error),
};

type ActionOptions = ApiOptions & { readonly reason: string };

/** The relay could not process these rows and quarantined them. */
export class DeadLetterCommands extends ApiCommands {
  async list(options: ApiOptions & FormatOptions): Promise<void> {
    const api = this.api(options);
    const letters = [];
    for (const queue of ['inbox', 'outbox']) letters.push(...(await api.all('/v1/dead-letters', { queue }, letter)));
    const { output, environment } = this;
    printItems(options, COLUMNS, letters, { output, environment, none: 'There are no dead letters.' });
  }

  async requeue(id: string, options: ActionOptions): Promise<void> {
    await this.#perform(id, 'requeue', options);
    this.say(`${id} is processed again.`);
  }

  async dismiss(id: string, options: ActionOptions): Promise<void> {
    await this.#perform(id, 'dismiss', options);
    this.say(`${id} is dismissed.`);
  }

  async #perform(id: string, action: 'requeue' | 'dismiss', { reason, ...options }: ActionOptions): Promise<void> {
    const path = `/v1/dead-letters/${encodeURIComponent(id)}/${action}`;
    await this.api(options).call({ path, body: { reason }, answer: letter });
  }
}
