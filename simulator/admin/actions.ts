import type { Router } from 'express';
import { command, query } from '#simulator/admin/call.ts';
import { esimOf, refundOf, SALE_PATHS, saleOf } from '#simulator/admin/reads.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import { esimView, refundView, saleView, stateView } from '#simulator/admin/views.ts';
import { publicPriceOf } from '#simulator/catalogue.ts';
import { isoTime } from '#simulator/clock.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import { wirePackage, wireVpnPlan } from '#simulator/wire.ts';

export function addActions(router: Router, simulation: Simulation): void {
  addMoneyAndTime(router, simulation);
  addStateChanges(router, simulation);
  addCatalogue(router, simulation);
  router.post(
    '/reset',
    command(schemas.nothing, () => {
      simulation.reset();
      return stateView(simulation);
    }),
  );
}

function addMoneyAndTime(router: Router, simulation: Simulation): void {
  const { clock, wallet, tokens } = simulation;
  router.post(
    '/deposits',
    command(
      schemas.deposit,
      ({ body: { environment, amount } }) => {
        simulation.deposit(environment, amount);
        return { environment, balance: wallet.balance(environment) };
      },
      201,
    ),
  );
  router.post(
    '/movements',
    command(
      schemas.movement,
      ({ body: { environment, type, amount, reason, ...named } }) => {
        const sale = saleOfMovement(simulation, named);
        if (sale !== undefined && sale.environment !== environment) throw notFound('sale');
        const subject = sale === undefined ? {} : simulation.kinds[sale.kind].subject(sale);
        if (type === 'debit' && !wallet.covers(environment, amount)) conflict('The wallet does not cover the amount.');
        wallet[type](environment, amount, { reason, ...subject });
        return { environment, balance: wallet.balance(environment) };
      },
      201,
    ),
  );
  router.post(
    '/approval',
    command(schemas.approval, ({ body: { approved } }) => {
      simulation.setApproved(approved);
      return { approved };
    }),
  );
  router.post(
    '/tokens/revoke',
    command(schemas.tokenRevocation, ({ body: { environment } }) => ({
      revoked: tokens.revokeAll(environment),
    })),
  );
  router.post(
    '/clock/advance',
    command(schemas.clockAdvance, ({ body: { ms } }) => {
      simulation.advanceClock(ms);
      return { time: isoTime(clock.correct()), clock_ahead_ms: clock.offset() };
    }),
  );
}

function saleOfMovement(
  simulation: Simulation,
  named: { order_id?: string | undefined; topup_id?: string | undefined; vpn_subscription_id?: string | undefined },
): SaleRecord | undefined {
  if (named.order_id !== undefined) return saleOf(simulation, 'order', named.order_id);
  if (named.topup_id !== undefined) return saleOf(simulation, 'topup', named.topup_id);
  return named.vpn_subscription_id === undefined ? undefined : saleOf(simulation, 'vpn', named.vpn_subscription_id);
}

function addStateChanges(router: Router, simulation: Simulation): void {
  const { progress, cancellations, vpnSubscriptions, esimLifecycle } = simulation;
  for (const kind of ['order', 'topup', 'vpn'] as const) {
    router.post(
      `${SALE_PATHS[kind]}/:id/complete`,
      command(schemas.nothing, ({ id }) =>
        saleView(
          simulation,
          progress.complete(saleOf(simulation, kind, id)) ?? conflict('It is no longer processing.'),
        ),
      ),
    );
    router.post(
      `${SALE_PATHS[kind]}/:id/fail`,
      command(schemas.failure, ({ id, body }) =>
        saleView(
          simulation,
          progress.fail(saleOf(simulation, kind, id), body) ?? conflict('It is no longer processing.'),
        ),
      ),
    );
  }
  for (const [action, status] of [
    ['expire', 'expired'],
    ['cancel', 'cancelled'],
  ] as const) {
    router.post(
      `/vpn-subscriptions/:id/${action}`,
      command(schemas.nothing, ({ id }) => {
        const sale = saleOf(simulation, 'vpn', id);
        return vpnSubscriptions.end(sale, status)
          ? saleView(simulation, sale)
          : conflict('The subscription is not active.');
      }),
    );
  }
  router.post(
    '/esims/:id/state',
    command(schemas.esimState, ({ id, body: { state } }) =>
      esimView(simulation, esimLifecycle.changeState(esimOf(simulation, id), state)),
    ),
  );
  router.post(
    '/refunds/:id/accept',
    command(schemas.nothing, ({ id }) =>
      refundView(cancellations.accept(refundOf(simulation, id)) ?? conflict('The refund is already decided.')),
    ),
  );
  router.post(
    '/refunds/:id/refuse',
    command(schemas.nothing, ({ id }) =>
      refundView(cancellations.refuse(refundOf(simulation, id)) ?? conflict('The refund is already decided.')),
    ),
  );
  router.post(
    '/refunds/:id/complete',
    command(schemas.nothing, ({ id }) =>
      refundView(
        cancellations.settle(refundOf(simulation, id), 'completed') ??
          conflict('No payment of this refund is outstanding.'),
      ),
    ),
  );
  router.post(
    '/refunds/:id/fail',
    command(schemas.nothing, ({ id }) =>
      refundView(
        cancellations.settle(refundOf(simulation, id), 'failed') ??
          conflict('No payment of this refund is outstanding.'),
      ),
    ),
  );
}

function addCatalogue(router: Router, { packages, plans, releases }: Simulation): void {
  router.post(
    '/packages',
    command(
      schemas.newPackage,
      ({ body: { data_mb: dataMb, validity_days: validityDays, price_for_reseller: price, ...item } }) =>
        wirePackage(packages.add({ ...item, dataMb, validityDays, price, publicPrice: publicPriceOf(price) })),
      201,
    ),
  );
  router.post(
    '/vpn-plans',
    command(
      schemas.newVpnPlan,
      ({ body: { duration_days: durationDays, price_for_reseller: price, ...item } }) =>
        wireVpnPlan(plans.add({ ...item, durationDays, price })),
      201,
    ),
  );
  router.delete(
    '/packages/:id',
    command(schemas.nothing, ({ id }) => {
      if (!packages.remove(Number(id))) throw notFound('package');
    }),
  );
  router.delete(
    '/vpn-plans/:id',
    command(schemas.nothing, ({ id }) => {
      if (!plans.remove(Number(id))) throw notFound('VPN plan');
    }),
  );
  router.post(
    '/packages/:id',
    command(schemas.itemChange, ({ id, body: { available, price_for_reseller: price } }) => {
      const changed = packages.change(Number(id), { available, price });
      if (changed === undefined) throw notFound('package');
      return wirePackage(changed);
    }),
  );
  router.post(
    '/vpn-plans/:id',
    command(schemas.itemChange, ({ id, body: { available, price_for_reseller: price } }) => {
      const changed = plans.change(Number(id), { available, price });
      if (changed === undefined) throw notFound('VPN plan');
      return wireVpnPlan(changed);
    }),
  );
  router
    .route('/updates')
    .get(query(schemas.nothing, () => releases.all()))
    .post(
      command(schemas.release, ({ body: { channel, version } }) => {
        releases.publish(channel, version);
        return releases.all();
      }),
    );
}

function conflict(message: string): never {
  throw new ServiceError(409, 'conflict', message);
}
