import * as z from 'zod';
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { typedCaller } from '#cli/api/typed-client.ts';
import { printLine, type Output } from '#cli/terminal/output.ts';
import { type Columns, flexible, text, time } from '#cli/terminal/tables/columns.ts';
import { type FormatOptions, printItems } from '#cli/terminal/tables/print-items.ts';
import type { DeadLetter } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';

export interface DeadLetterActionOptions extends ApiOptions {
  readonly reason: string;
}

const letter = z.object({
  id: z.string(),
  message: z.string(),
  subject_kind: z.string(),
  subject_id: z.string(),
  error: z.string(),
  tries: z.int(),
  received_at: z.string(),
});
const COLUMNS: Columns<DeadLetter> = {
  received_at: time((each) => each.received_at),
  id: text((each) => each.id),
  message: text((each) => each.message),
  subject_kind: text((each) => each.subject_kind),
  subject_id: text((each) => each.subject_id),
  tries: text((each) => each.tries),
  error: flexible((each) => each.error),
};

const PATH = '/v1/dead-letters';
const QUEUES = ['inbox', 'outbox'] as const;

/** `reseller dead-letters`: rows that the relay could not process and quarantined. */
export class DeadLetterCommands {
  readonly #environment: Environment;
  readonly #output: Output;

  constructor(environment: Environment, output: Output = process.stdout) {
    this.#environment = environment;
    this.#output = output;
  }

  /** `dead-letters list`: rows of both queues, oldest first. */
  async list(options: ApiOptions & FormatOptions): Promise<void> {
    const letters = await typedCaller(
      options,
      this.#environment,
    )(async (client) => {
      const found: DeadLetter[] = [];
      for (const queue of QUEUES) for await (const each of client.listDeadLetters({ queue })) found.push(each);
      return found;
    });
    const context = { output: this.#output, environment: this.#environment, none: 'There are no dead letters.' };
    printItems(options, COLUMNS, letters, context);
  }

  /** `dead-letters requeue`. */
  async requeue(id: string, options: DeadLetterActionOptions): Promise<void> {
    await this.#perform(id, 'requeue', options);
    this.#say(`${id} is processed again.`);
  }

  /** `dead-letters dismiss`. */
  async dismiss(id: string, options: DeadLetterActionOptions): Promise<void> {
    await this.#perform(id, 'dismiss', options);
    this.#say(`${id} is dismissed.`);
  }

  async #perform(id: string, action: 'requeue' | 'dismiss', options: DeadLetterActionOptions): Promise<void> {
    await this.#api(options).call({
      path: `${PATH}/${encodeURIComponent(id)}/${action}`,
      body: { reason: options.reason },
      answer: letter,
    });
  }

  #api(options: ApiOptions): ApiClient {
    return new ApiClient(apiAccess(options, this.#environment));
  }

  #say(line: string): void {
    printLine(this.#output, line);
  }
}
