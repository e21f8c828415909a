import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { createRedactor, type Redactor } from '#telemetry/redaction.ts';

/** Logs as `logger.info({ orderId }, 'order accepted')`: fields first, then a fixed sentence. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** A level of pino (`trace` to `fatal`), or `silent`. */
  readonly level: string;
  /** Name of the process: `api`, `worker`, … */
  readonly name: string;
  /** Values that must never appear, wherever they turn up: the passwords and secrets of the configuration. */
  readonly secrets?: readonly string[];
}

/**
 * Makes a logger that writes JSON lines, redacted by `telemetry/redaction.ts`: fields, texts, bindings of child loggers
 * and errors with their causes.
 *
 * @param destination standard output when left out.
 */
export function createLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const redactor = createRedactor(options.secrets);
  const logger = pino(
    {
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // What the hook passes on is redacted already, errors included: nothing may serialize them again.
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

/** Pino's own arguments: fields or an error first, or straight away a sentence and what its placeholders stand for. */
type LogArguments = Parameters<Parameters<NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>>[1]>;

function redactArguments(input: readonly unknown[], redactor: Redactor): LogArguments {
  const redacted = input.map((item, position) => {
    const value = redactor.value(item);
    // Left to pino, an object with a field named `toString` would throw where the sentence has `%s`.
    return position > 0 && typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
  if (input[0] instanceof Error) {
    redacted[0] = { err: redacted[0] };
    redacted[1] ??= redactor.message(input[0]);
  }
  // The hook's type knows only the form (sentence, ...placeholders); pino passes on whatever the caller gave.
  return redacted as unknown as LogArguments;
}

/** Pino applies no formatter to the bindings of children. They inherit from their parent, and so these methods. */
function redactBindings(logger: Logger, redactor: Redactor): void {
  // The general type of `child` is about custom levels, which are not used here.
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
