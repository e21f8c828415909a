import { afterAll, afterEach } from 'vitest';

/**
 * Disposes of a thing after the last test of the file. A file opens what all its tests share while it is loaded:
 * `const stack = disposedAtEnd(await startStack())`. What is opened last is disposed of first.
 */
export function disposedAtEnd<Thing extends AsyncDisposable>(thing: Thing): Thing {
  afterAll(() => thing[Symbol.asyncDispose]());
  return thing;
}

/** @returns a list: what a test adds is disposed of after the test, the last one first. */
export function disposedAfterEach(): AsyncDisposable[] {
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const thing of opened.splice(0).toReversed()) await thing[Symbol.asyncDispose]();
  });
  return opened;
}
