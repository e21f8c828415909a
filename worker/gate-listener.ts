import type { GateListener } from '#fulfilment/purchase/handler.ts';
import type { Logger } from '#telemetry/logger.ts';

/** Logs changes of circuits and of the balance. */
export function gateListener(logger: Logger): GateListener {
  return {
    circuitChanged: ({ name, from, to, detail }) => {
      const isBad = to === 'open' && from !== 'probing';
      logger[isBad ? 'error' : 'info'](
        { circuit: name, from, to, detail },
        `the circuit ${name} of the service is ${to}`,
      );
    },
    balanceCrossed: ({ amount, currency }, crossed) => {
      if (crossed === 'low')
        logger.error({ balance: amount, currency }, 'the balance of the wallet is below wallet.low_balance');
      else logger.info({ balance: amount, currency }, 'the balance of the wallet is back above wallet.low_balance');
    },
    failed: (error) =>
      logger.warn({ err: error }, 'the circuits could not be updated after a send; the next send updates them'),
  };
}
