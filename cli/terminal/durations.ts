import { counted } from '#domain/text.ts';

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size) ?? UNITS[3];
  return counted(Math.floor(ms / size), unit);
}

export function lapse(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}
