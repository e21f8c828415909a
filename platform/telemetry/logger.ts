import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { createRedactor, type Redactor } from '#telemetry/redaction.ts';

/** `logger.info({ orderId }, 'order accepted')`: fields first, then a fixed sentence. */
export type Logger = PinoLogger;

/**
 * `redaction.ts` redacts fields, texts, bindings of child loggers and errors with their causes. @param level of pino
 * (`trace` to `fatal`), or `silent`. @param secrets removed from every field and text.
 */
export function createLogger(
  { level, name, secrets }: { readonly level: string; readonly name: string; readonly secrets?: readonly string[] },
  destination?: DestinationStream,
): Logger {
  const redactor = createRedactor(secrets);
  const logger = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Pino's serializer would read the unredacted original.
      serializers: { err: (error: unknown) => error },
      hooks: {
        logMethod(input, method) {
          // The type of `method` has only one form of its arguments; pino passes on all forms.
          Reflect.apply(method, this, redactArguments(input, redactor));
        },
      },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
  redactBindings(logger, redactor);
  return logger;
}

function redactArguments(input: readonly unknown[], redactor: Redactor): unknown[] {
  const redacted = input.map((item, position) => {
    const value = redactor.value(item);
    // Pino would throw for `%s` with an object that has a field named `toString`.
    return position > 0 && typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
  if (input[0] instanceof Error) {
    redacted[0] = { err: redacted[0] };
    redacted[1] ??= redactor.message(input[0]);
  }
  return redacted;
}

/** Pino applies no formatter to bindings of child loggers. Children inherit these methods. */
function redactBindings(logger: Logger, redactor: Redactor): void {
  // Both are called with their own logger.
  // oxlint-disable-next-line typescript/unbound-method
  const { setBindings } = logger;
  // oxlint-disable-next-line typescript/unbound-method
  const child: (this: Logger, bindings: pino.Bindings, options?: pino.ChildLoggerOptions) => Logger = logger.child;
  const redact = (bindings: pino.Bindings): pino.Bindings => ({ ...(redactor.value(bindings) as object) });
  Object.assign(logger, {
    child(this: Logger, bindings: pino.Bindings, options?: pino.ChildLoggerOptions) {
      return child.call(this, redact(bindings), options);
    },
    setBindings(this: Logger, bindings: pino.Bindings) {
      setBindings.call(this, redact(bindings));
    },
  });
}
