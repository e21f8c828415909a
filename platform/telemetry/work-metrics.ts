import { Gauge, Histogram, type Registry } from 'prom-client';

/** The metrics of work and of the catalogue. Gauges of the database are set by `worker/gauges.ts`. */
export interface WorkMetrics {
  /** Time from the acceptance of work until it was completed, or ended without effect, in seconds. */
  readonly workDuration: Histogram<'kind' | 'result'>;
  /** Time since the stored catalogue was read, in seconds; no value before the first reading. */
  readonly catalogueAge: Gauge<'catalogue'>;
  /** 1 while the newest complete reading of a catalogue is suspicious and waits for its confirmation, else 0. */
  readonly catalogueSuspicious: Gauge<'catalogue'>;
  /** Unfinished work by kind and status. */
  readonly work: Gauge<'kind' | 'status'>;
  /** Longest time without a change among the unfinished work of a status, in seconds; 0 without such work. */
  readonly workOldest: Gauge<'kind' | 'status'>;
  readonly workNotStarted: Gauge<'kind'>;
  readonly workHeld: Gauge<'kind'>;
  /** Open cases, by reason. */
  readonly casesOpen: Gauge<'reason'>;
}

/** Seconds. An order takes a fraction of a second, work that is held takes hours, a refund takes days. */
const WORK_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];

/** Creates the metrics of work. */
export function workMetrics(registers: Registry[]): WorkMetrics {
  return {
    workDuration: new Histogram({
      name: 'reseller_work_duration_seconds',
      help: 'Time from the acceptance of work until it was completed, or ended without effect, by kind and result.',
      labelNames: ['kind', 'result'],
      buckets: WORK_BUCKETS,
      registers,
    }),
    catalogueAge: new Gauge({
      name: 'reseller_catalogue_age_seconds',
      help: 'Time since the stored catalogue was read.',
      labelNames: ['catalogue'],
      registers,
    }),
    catalogueSuspicious: new Gauge({
      name: 'reseller_catalogue_suspicious',
      help: '1 while a reading that lacks many items of the catalogue waits for its confirmation, else 0.',
      labelNames: ['catalogue'],
      registers,
    }),
    work: new Gauge({
      name: 'reseller_work',
      help: 'Unfinished work by kind (order, topup, …) and status.',
      labelNames: ['kind', 'status'],
      registers,
    }),
    workOldest: new Gauge({
      name: 'reseller_work_oldest_seconds',
      help: 'Longest time without a change among unfinished work, by kind and status.',
      labelNames: ['kind', 'status'],
      registers,
    }),
    workNotStarted: new Gauge({
      name: 'reseller_work_not_started_seconds',
      help: 'Longest time since acceptance among work without an attempt, by kind: its workflow has not begun.',
      labelNames: ['kind'],
      registers,
    }),
    workHeld: new Gauge({
      name: 'reseller_work_held_seconds',
      help: 'Longest time since acceptance among held work, by kind, without work that a pause holds.',
      labelNames: ['kind'],
      registers,
    }),
    casesOpen: new Gauge({
      name: 'reseller_cases_open',
      help: 'Open cases by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}
