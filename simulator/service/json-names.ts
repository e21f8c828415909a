/**
 * Finds a name that occurs twice in one object. Parsers that take the first and parsers that take the last would act on
 * different requests; `JSON.parse` silently drops the first.
 *
 * @param text valid JSON.
 * @returns the path of the first such name, such as `device.0.id`.
 */
export function repeatedName(text: string): string | undefined {
  const open: Level[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    const level = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ names: new Set(), isObject: token === '{', expectsName: true, at: 0 });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (level?.isObject === false && token === ',') {
      level.at = Number(level.at) + 1;
    } else if (level?.isObject === true && token === ',') {
      level.expectsName = true;
    } else if (level?.isObject === true && level.expectsName) {
      level.at = String(JSON.parse(token));
      if (level.names.has(level.at)) return open.map(({ at }) => at).join('.');
      level.names.add(level.at);
      level.expectsName = false;
    }
  }
  return undefined;
}

/** An object or array while it is read. */
interface Level {
  readonly names: Set<string>;
  readonly isObject: boolean;
  expectsName: boolean;
  /** Name or index of the current value. */
  at: string | number;
}

/**
 * Finds texts and names that contain NUL or a lone surrogate: PostgreSQL accepts neither, and UTF-8 cannot encode the
 * second.
 *
 * @returns the path of each such text.
 */
export function unusableTexts(value: unknown): readonly string[] {
  const found: string[] = [];
  // Not recursive: deeply nested brackets would overflow the stack.
  const waiting: { readonly path: string; readonly value: unknown }[] = [{ path: '', value }];
  for (const { path, value: each } of waiting) {
    if (typeof each === 'string' && !isUsable(each)) found.push(path === '' ? 'body' : path);
    if (typeof each !== 'object' || each === null) continue;
    for (const [name, inner] of Object.entries(each) as [string, unknown][]) {
      const below = path === '' ? shown(name) : `${path}.${shown(name)}`;
      if (isUsable(name)) waiting.push({ path: below, value: inner });
      else found.push(below);
    }
  }
  return found;
}

function isUsable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function shown(name: string): string {
  return name.toWellFormed().replaceAll(/[\0\ufffd]/g, '?');
}
