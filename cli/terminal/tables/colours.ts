import { styleText } from 'node:util';
import type { Output } from '#cli/terminal/output.ts';
import type { Environment } from '#config/environment.ts';

/** Styles that tables use. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** Writes a text in a style, or unchanged where no colours are wanted. */
export type Paint = (style: Style, text: string) => string;

/** Colours only on a terminal, and not with NO_COLOR (https://no-color.org) or TERM=dumb. */
export function paintFor(output: Output, environment: Environment): Paint {
  const wanted = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  return output.isTTY === true && wanted
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

/** Statuses by what they mean for the person who looks. */
const STATUS_STYLES: Readonly<Record<string, Style>> = {
  completed: 'green',
  active: 'green',
  delivered: 'green',
  enabled: 'green',
  closed: 'green',
  accepted: 'cyan',
  processing: 'cyan',
  submitting: 'cyan',
  pending: 'cyan',
  cancelling: 'cyan',
  held: 'yellow',
  needs_attention: 'red',
  failed: 'red',
  refused: 'red',
  disabled: 'red',
  abandoned: 'dim',
  cancelled: 'dim',
  expired: 'dim',
};

/** The style of a status; undefined for statuses of the service, which are not known. */
export function styleOfStatus(status: string): Style | undefined {
  return Object.hasOwn(STATUS_STYLES, status) ? STATUS_STYLES[status] : undefined;
}
