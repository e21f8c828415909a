import { Gauge, type GaugeConfiguration } from 'prom-client';

/** A gauge without labels, which has no value before it is set: 0 would be false in a process that never sets it. */
export function unsetGauge(options: GaugeConfiguration<never>): Gauge {
  const gauge = new Gauge(options);
  gauge.remove();
  return gauge;
}
