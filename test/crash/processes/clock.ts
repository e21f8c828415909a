/**
 * Loaded before a process of the crash proof (`--import`). It shifts the clock of the process by the number of
 * milliseconds in the file named by `CRASH_CLOCK`, and follows changes of that file. Only the time of day is shifted:
 * timers, deadlines and `performance.now()` stay monotonic. Native code, such as Temporal's core, keeps the machine's
 * clock.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const LOOK_EVERY_MS = 100;

const file = process.env['CRASH_CLOCK'];
if (file !== undefined && file !== '') install(file);

function install(path: string): void {
  let offsetMs = readOffset(path);
  const look = setInterval(() => (offsetMs = readOffset(path)), LOOK_EVERY_MS);
  look.unref();

  const RealDate = Date;
  const realNow = RealDate.now.bind(RealDate);
  const now = () => realNow() + offsetMs;
  const shifted: DateConstructor = new Proxy(RealDate, {
    // Only a date without arguments uses the clock.
    construct: (target, args, newTarget) =>
      Reflect.construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === shifted ? target : newTarget,
      ) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, key): unknown => (key === 'now' ? now : Reflect.get(target, key)),
  });
  Object.defineProperty(RealDate.prototype, 'constructor', { value: shifted, configurable: true, writable: true });
  globalThis.Date = shifted;
  const origin = performance.timeOrigin;
  Object.defineProperty(performance, 'timeOrigin', { get: () => origin + offsetMs, configurable: true });
}

function readOffset(path: string): number {
  const offset = Number(readFileSync(path, 'utf8'));
  if (!Number.isFinite(offset)) throw new Error(`${path} holds no number of milliseconds`);
  return offset;
}
