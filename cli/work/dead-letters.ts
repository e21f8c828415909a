import * as z from 'zod';
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { printLine, type Output } from '#cli/terminal/output.ts';
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
const page = z.object({ data: z.array(letter), next_cursor: z.string().nullable() });

const PATH = '/v1/dead-letters';
const QUEUES = ['inbox', 'outbox'] as const;
/** Largest page of the API. */
const PAGE = 100;

/** `reseller dead-letters`: rows that the relay could not process and quarantined. */
export class DeadLetterCommands {
  readonly #environment: Environment;
  readonly #output: Output;

  constructor(environment: Environment, output: Output = process.stdout) {
    this.#environment = environment;
    this.#output = output;
  }

  /** `dead-letters list`: rows of both queues, oldest first. */
  async list(options: ApiOptions): Promise<void> {
    let count = 0;
    for (const queue of QUEUES) count += await this.#listQueue(options, queue);
    if (count === 0) this.#say('There are no dead letters.');
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

  async #listQueue(options: ApiOptions, queue: (typeof QUEUES)[number]): Promise<number> {
    const query = new URLSearchParams({ queue, limit: String(PAGE) });
    for (let count = 0; ;) {
      const { data, next_cursor: more } = await this.#api(options).call({
        path: `${PATH}?${query.toString()}`,
        answer: page,
      });
      for (const each of data) {
        const { id, message, subject_kind: kind, subject_id: subject, error, tries, received_at: at } = each;
        this.#say(`${at}  ${id}  ${message}  ${kind} ${subject}  ${tries} tries`);
        this.#say(`  ${error}`);
      }
      count += data.length;
      if (more === null) return count;
      query.set('cursor', more);
    }
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
