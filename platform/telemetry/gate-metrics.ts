import { Gauge, type Registry } from 'prom-client';
import { unsetGauge } from '#telemetry/unset-gauge.ts';

/** The metrics of the purchase gate and the wallet, which `worker/gauges.ts` sets. */
export interface GateMetrics {
  /** 1 while a circuit of the service is not closed, else 0. */
  readonly circuitOpen: Gauge<'circuit'>;
  /**
   * Purchases held at the gate, by hold reason and by what holds them: `circuit`, `pause`, `drift`, `spend_limit`,
   * `wallet`.
   */
  readonly gateHeld: Gauge<'failure_class' | 'barrier'>;
  /** Active pauses of buying. */
  readonly gatePauses: Gauge;
  /** 1 while all purchases of a kind are paused, else 0. */
  readonly gatePaused: Gauge<'kind'>;
  /** 2 while nothing of a kind is bought because paid deliveries could not be used, 1 while a part is held, else 0. */
  readonly driftStop: Gauge<'kind'>;
  /** Purchases that are paid and could not be delivered. */
  readonly driftParked: Gauge<'kind'>;
  /** Balance of the wallet less reservations, at the last read for a purchase. */
  readonly walletAvailable: Gauge<'currency'>;
  /** 1 while the balance is below wallet.low_balance, else 0. */
  readonly walletLow: Gauge;
  /** Time that the wallet lasts at the rate of recent sales, in seconds; no value while unknown. */
  readonly runwaySeconds: Gauge;
  /** 1 while the wallet lasts shorter than wallet.runway_low, else 0. */
  readonly runwayLow: Gauge;
}

/** Creates the metrics of the purchase gate and the wallet. */
export function gateMetrics(registers: Registry[]): GateMetrics {
  return {
    circuitOpen: new Gauge({
      name: 'reseller_circuit_open',
      help: '1 while purchases are held because of a condition of the service as a whole, by condition.',
      labelNames: ['circuit'],
      registers,
    }),
    gateHeld: new Gauge({
      name: 'reseller_gate_held',
      help: 'Purchases held at the gate, by failure class and barrier (circuit, pause, drift, spend_limit, wallet).',
      labelNames: ['failure_class', 'barrier'],
      registers,
    }),
    gatePauses: unsetGauge({ name: 'reseller_gate_pauses', help: 'Active pauses of buying.', registers }),
    gatePaused: new Gauge({
      name: 'reseller_gate_paused',
      help: '1 while all purchases of the kind are paused.',
      labelNames: ['kind'],
      registers,
    }),
    driftStop: new Gauge({
      name: 'reseller_drift_stop',
      help:
        '1 while a product is held, or one purchase goes first, because a paid delivery could not be used; 2 while ' +
        'the whole kind is stopped.',
      labelNames: ['kind'],
      registers,
    }),
    driftParked: new Gauge({
      name: 'reseller_drift_parked',
      help: 'Purchases that are paid and whose delivery could not be used.',
      labelNames: ['kind'],
      registers,
    }),
    walletAvailable: new Gauge({
      name: 'reseller_wallet_available',
      help: 'Balance of the wallet less reservations, at the last read for a purchase.',
      labelNames: ['currency'],
      registers,
    }),
    walletLow: unsetGauge({
      name: 'reseller_wallet_low',
      help: '1 while the balance is below wallet.low_balance.',
      registers,
    }),
    runwaySeconds: unsetGauge({
      name: 'reseller_wallet_runway_seconds',
      help: 'Time that the wallet lasts at the rate of recent sales; absent while unknown.',
      registers,
    }),
    runwayLow: unsetGauge({
      name: 'reseller_wallet_runway_low',
      help: '1 while the wallet lasts shorter than wallet.runway_low.',
      registers,
    }),
  };
}
