/** For tests that look for secrets where none may be. */
import { withClient } from '#cli/embedded/postgres.ts';

/** Every row of every table as text; bytes as hexadecimal. */
export async function everythingStored(databaseUrl: string): Promise<string> {
  return withClient(databaseUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const rows = await client.query<{ text: string }>(`SELECT ${name}::text AS text FROM ${name}`);
      texts.push(...rows.rows.map(({ text }) => text));
    }
    return texts.join('\n');
  });
}

/**
 * How a text may be written where it is not seen at once: as it is, as hexadecimal, in an address, and as base64 at any
 * place of it.
 */
export function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // What the neighbours on either side have a part in is left out.
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [...new Set([secret, bytes.toString('hex'), encodeURIComponent(secret), ...inBase64])];
}

/** Which secrets stand in a text, and how; empty when none does. */
export function foundIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).flatMap((spelling) => (text.includes(spelling) ? [`${name} as ${spelling}`] : [])),
  );
}
