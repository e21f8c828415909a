import { afterAll } from 'vitest';

/**
 * Disposes of a thing after the last test of the file. A file opens what all its tests share while it is loaded:
 * `const stack = disposedAtEnd(await startStack())`. What is opened last is disposed of first.
 */
export function disposedAtEnd<Thing extends AsyncDisposable>(thing: Thing): Thing {
  afterAll(() => thing[Symbol.asyncDispose]());
  return thing;
}
