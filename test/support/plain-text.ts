/** For tests that search for secrets where none may be. */
import { withClient } from '#cli/embedded/postgres.ts';

/** Every row of every table as text; bytes as hexadecimal. */
export async function storedRows(databaseUrl: string): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(`SELECT ${name}::text AS text FROM ${name} ORDER BY 1`);
      texts.push(...rows.map(({ text }) => `${name} ${text}`));
    }
    return texts;
  });
}

export async function everythingStored(databaseUrl: string): Promise<string> {
  return (await storedRows(databaseUrl)).join('\n');
}

/** Encodings of a text: plain, hexadecimal, percent-encoded, and base64 at any offset. */
export function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // Without the characters that also depend on the neighbouring bytes.
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [...new Set([secret, bytes.toString('hex'), encodeURIComponent(secret), ...inBase64])];
}

/** The secrets in a text, with their encodings. */
export function foundIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).flatMap((spelling) => (text.includes(spelling) ? [`${name} as ${spelling}`] : [])),
  );
}
