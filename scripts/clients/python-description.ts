/** The client replaces it by a new key: `NEW_KEY` in `retries.py`. */
const NEW_KEY = 'new';
/** The generator writes files for this content type only. */
const FILE = 'application/octet-stream';
const FILE_TYPES = /^(image\/.*|application\/zip|application\/pdf|text\/csv)$/;

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly style?: string;
  readonly description?: string;
  readonly schema?: object;
}

/**
 * Keys are optional, because the client makes them. Names of pairs are complete, because the generator omits their
 * prefix.
 */
export function pythonDescription(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(pythonDescription);
  if (typeof document !== 'object' || document === null) return document;
  const { name, in: where, schema, style, description }: Parameter = document;
  if (name === 'Idempotency-Key' && where === 'header') {
    return { ...document, required: false, schema: { ...schema, default: NEW_KEY } };
  }
  if (style === 'deepObject') return { ...document, description: `${description} Give \`{"${name}[key]": "value"}\`.` };
  return Object.fromEntries(
    Object.entries(document).map(([key, value]: [string, unknown]) => {
      if (FILE_TYPES.test(key)) return [FILE, { schema: { type: 'string', format: 'binary' } }];
      return [key, key === 'tags' && isTexts(value) ? value.map(moduleName) : pythonDescription(value)];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The generator would split `eSIMs` and `Top-ups` into several words. */
function moduleName(tag: string): string {
  return tag.toLowerCase().replaceAll('-', '');
}
