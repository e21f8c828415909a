import { counted } from '#domain/text.ts';

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** A duration as text, in its largest whole unit. @param ms milliseconds, zero or more. */
export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size) ?? UNITS[3];
  return counted(Math.floor(ms / size), unit);
}

/** A duration as text, also below a second. @param ms milliseconds, zero or more. */
export function lapse(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}
