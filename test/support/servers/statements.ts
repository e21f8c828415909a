import pg from 'pg';

/**
 * The statements that all connections of this process send to PostgreSQL while something happens. Their number does not
 * depend on the machine, so that a test may state it.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  const statements: string[] = [];
  prototype.query = function counted(this: object, ...args: unknown[]) {
    const [first] = args;
    statements.push(typeof first === 'string' ? first : (first as { readonly text: string }).text);
    return original.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = original;
  }
  return statements;
}
