import * as z from 'zod';
import type { Store } from '#simulator/store/store.ts';

/** Settings of the admin API. They survive a restart and override the configuration. */
export class Settings {
  readonly #get;
  readonly #set;
  readonly #remove;

  constructor(store: Store) {
    this.#get = store.query(z.object({ value: z.string() }), 'SELECT value FROM settings WHERE name = :name');
    this.#set = store.command(
      `INSERT INTO settings (name, value) VALUES (:name, :value)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
    this.#remove = store.command('DELETE FROM settings WHERE name = :name');
  }

  /** @returns undefined when it was never set. */
  get<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined {
    const row = this.#get.get({ name });
    return row === undefined ? undefined : schema.parse(JSON.parse(row.value));
  }

  set(name: string, value: unknown): void {
    this.#set.run({ name, value: JSON.stringify(value) });
  }

  remove(name: string): void {
    this.#remove.run({ name });
  }
}
