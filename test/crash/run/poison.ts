/** Unprocessable rows in the database of a seed. Rows behind them must not wait for them. */
import { withClient } from '#cli/embedded/postgres.ts';
import { newId } from '#db/connection/ids.ts';
import type { Disturbance } from '#test/crash/plans/disturbances.ts';

export interface Poisoned {
  readonly row: 'inbox' | 'outbox';
  /** The id of the inbox row, or the id of the work in the outbox row. */
  readonly id: string;
}

/** The outbox gets its row when the product writes its n-th row, so that it is between other rows. */
const SET_UP = `
  CREATE TABLE crash_poisoned (queue text NOT NULL, id text NOT NULL);
  CREATE SEQUENCE crash_deliveries;
  CREATE SEQUENCE crash_hand_overs;
`;

function poisonInbox(nth: number): string {
  return `
    CREATE FUNCTION crash_poison_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.source = 'webhook' AND NEW.state = 'pending' AND nextval('crash_deliveries') = ${nth} THEN
        UPDATE inbox
          SET encrypted_body = set_byte(
            encrypted_body,
            length(encrypted_body) - 1,
            get_byte(encrypted_body, length(encrypted_body) - 1) # 255
          )
          WHERE id = NEW.id;
        INSERT INTO crash_poisoned VALUES ('inbox', NEW.id::text);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER crash_poison AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION crash_poison_inbox();
  `;
}

function poisonOutbox(nth: number, workId: string): string {
  return `
    CREATE FUNCTION crash_poison_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('crash_hand_overs') = ${nth} THEN
        INSERT INTO crash_poisoned VALUES ('outbox', '${workId}');
        INSERT INTO outbox (topic, subject_kind, subject_id) VALUES ('start_work', 'order', '${workId}');
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER crash_poison AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION crash_poison_outbox();
  `;
}

/** Prepares the database of a seed. Call before the processes start. */
export async function preparePoison(databaseUrl: string, disturbances: readonly Disturbance[]): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(SET_UP);
    for (const each of disturbances) {
      if (each.kind !== 'poison') continue;
      await client.query(each.row === 'inbox' ? poisonInbox(each.nth) : poisonOutbox(each.nth, newId('order')));
    }
  });
}

export async function readPoison(databaseUrl: string): Promise<Poisoned[]> {
  return withClient(
    databaseUrl,
    async (client) => (await client.query<Poisoned>('SELECT queue AS "row", id FROM crash_poisoned')).rows,
  );
}
