/**
 * Loaded ahead of a process of the crash proof (`--import`): its clock goes wrong by as many milliseconds as the file
 * named by `CRASH_CLOCK` says, and jumps when the file changes. Only the time of day is wrong: timers, deadlines and
 * `performance.now()` are monotonic, and stay so. Native code, such as Temporal's core, keeps the machine's clock.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** A jump is seen within this. */
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
    // Without arguments it is the time of now; with some, what they say.
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
