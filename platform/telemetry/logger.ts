import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { createRedactor, type Redactor } from '#telemetry/redaction.ts';

/** `logger.info({ orderId }, 'order accepted')`: fields first, then a fixed sentence. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Of pino (`trace` to `fatal`), or `silent`. */
  readonly level: string;
  readonly name: string;
  /** Removed from every field and text. */
  readonly secrets?: readonly string[];
}

/** `redaction.ts` redacts fields, texts, bindings of child loggers and errors with their causes. */
export function createLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const redactor = createRedactor(options.secrets);
  const logger = pino(
    {
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Pino's serializer would read the unredacted original.
      serializers: { err: (error: unknown) => error },
      hooks: {
        logMethod(input, method) {
          method.apply(this, redactArguments(input, redactor));
        },
      },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
  redactBindings(logger, redactor);
  return logger;
}

type LogArguments = Parameters<Parameters<NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>>[1]>;

function redactArguments(input: readonly unknown[], redactor: Redactor): LogArguments {
  const redacted = input.map((item, position) => {
    const value = redactor.value(item);
    // Pino would throw for `%s` with an object that has a field named `toString`.
    return position > 0 && typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
  if (input[0] instanceof Error) {
    redacted[0] = { err: redacted[0] };
    redacted[1] ??= redactor.message(input[0]);
  }
  // The type of the hook has only one form; pino passes on all forms.
  return redacted as unknown as LogArguments;
}

/** Pino applies no formatter to bindings of child loggers. Children inherit these methods. */
function redactBindings(logger: Logger, redactor: Redactor): void {
  // The generic type is for custom levels, which are not used here.
  const methods = logger as unknown as BindingMethods;
  const original: BindingMethods = { child: methods.child, setBindings: methods.setBindings };
  const redact = (bindings: pino.Bindings): pino.Bindings => ({ ...(redactor.value(bindings) as object) });
  methods.child = function (bindings, options) {
    return original.child.call(this, redact(bindings), options);
  };
  methods.setBindings = function (bindings) {
    original.setBindings.call(this, redact(bindings));
  };
}

interface BindingMethods {
  child: (this: unknown, bindings: pino.Bindings, options?: pino.ChildLoggerOptions) => Logger;
  setBindings: (this: unknown, bindings: pino.Bindings) => void;
}
