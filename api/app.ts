import express, { type Express } from 'express';
import { auditLogOperations } from '#api/access/audit-log.ts';
import { RateLimits } from '#api/access/limits.ts';
import { ownKeyOperations } from '#api/access/own-key.ts';
import { cancellationOperations, cancellationPreflightOperations } from '#api/cancellations/cancellations.ts';
import { refundOperations } from '#api/cancellations/refunds.ts';
import { caseOperations } from '#api/cases/cases.ts';
import { deadLetterOperations } from '#api/cases/dead-letters.ts';
import { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { esimOperations } from '#api/esims/esims.ts';
import { eventOperations } from '#api/events/event-feed.ts';
import { driftStopOperations } from '#api/gate/drift-stops.ts';
import { pauseOperations } from '#api/gate/pauses.ts';
import { purchaseGateOperations } from '#api/gate/purchase-gate.ts';
import { healthOperations } from '#api/health/health.ts';
import { mountOperations } from '#api/http/mount.ts';
import type { Operation } from '#api/http/operation.ts';
import { refuseAmbiguousHeaders, requestContext, securityHeaders } from '#api/http/request-context.ts';
import { reconciliationOperations } from '#api/money/reconciliations.ts';
import { salesOperations } from '#api/money/sales.ts';
import { walletTransactionOperations } from '#api/money/wallet-transactions.ts';
import { walletOperations } from '#api/money/wallet.ts';
import { Offers } from '#api/offers/offers.ts';
import { productVersion } from '#api/openapi/version.ts';
import { batchOperations } from '#api/order-batches/batches.ts';
import { orderOperations } from '#api/orders/orders.ts';
import { packageOperations } from '#api/packages/packages.ts';
import { pricingOperations } from '#api/pricing/pricing-rules.ts';
import { databaseUnavailable, errorHandler } from '#api/problems/error-handler.ts';
import { quoteOperations } from '#api/quotes/quotes.ts';
import { serviceWebhookOperations } from '#api/service-webhooks/service-webhooks.ts';
import { serviceSecretOperations } from '#api/service-webhooks/webhook-secret.ts';
import { shareLinkOperations } from '#api/share-links/share-links.ts';
import { sharePageOperations } from '#api/share-links/share-page.ts';
import { documentationOperations } from '#api/site/site.ts';
import { topupOperations } from '#api/topups/topups.ts';
import { storefrontUpdateOperations } from '#api/updates/storefront-updates.ts';
import { vpnPlanOperations } from '#api/vpn/vpn-plans.ts';
import { vpnSubscriptionOperations } from '#api/vpn/vpn-subscriptions.ts';
import { webhookEndpointOperations } from '#api/webhook-endpoints/webhook-endpoints.ts';

export function createApp(dependencies: ApiDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  // Answers are never cached, so an ETag would be computed for nothing.
  app.disable('etag');
  // One address for each resource: `/v1/orders/` is not `/v1/orders`.
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('trust proxy', [...dependencies.trustedProxies]);

  app.use(requestContext(dependencies.logger, dependencies.metrics));
  app.use(securityHeaders);
  app.use(refuseAmbiguousHeaders);
  app.use(['/v1', '/webhooks'], (_request, _response, next) => {
    const reason = dependencies.closedBecause();
    if (reason !== undefined) throw databaseUnavailable(new Error(reason));
    next();
  });
  const limits = new RateLimits(dependencies.rateLimits, dependencies.now);
  app.get('/', (_request, response) => response.redirect(302, 'docs'));
  // People type the trailing slash. The redirect is relative, so that a proxy may add a path prefix.
  app.get('/docs/', (_request, response) => response.redirect(308, '../docs'));
  mountOperations(app, allOperations(dependencies).toSorted(webhooksFirst), { ...dependencies, limits });
  app.use(errorHandler(dependencies));
  return app;
}

/** Express tries the routes in this order, and the service's webhooks come in bursts. */
function webhooksFirst(left: Operation, right: Operation): number {
  return Number(right.path === '/webhooks/service') - Number(left.path === '/webhooks/service');
}

export function allOperations(dependencies: ApiDependencies): Operation[] {
  const offers = new Offers(dependencies);
  const catalogue = new StoredCatalogue(dependencies);
  const operations = [
    ...orderOperations(dependencies, offers),
    ...topupOperations(dependencies, offers),
    ...vpnSubscriptionOperations(dependencies, offers),
    ...cancellationOperations(dependencies),
    ...batchOperations(dependencies, offers),
    ...refundOperations(dependencies),
    ...eventOperations(dependencies),
    ...caseOperations(dependencies),
    ...deadLetterOperations(dependencies),
    ...purchaseGateOperations(dependencies),
    ...pauseOperations(dependencies),
    ...driftStopOperations(dependencies),
    ...ownKeyOperations(dependencies),
    ...esimOperations(dependencies),
    ...shareLinkOperations(dependencies),
    ...sharePageOperations(dependencies),
    ...cancellationPreflightOperations(dependencies),
    ...packageOperations(dependencies, catalogue),
    ...vpnPlanOperations(dependencies, catalogue),
    ...quoteOperations(dependencies, offers),
    ...pricingOperations(dependencies, catalogue),
    ...walletOperations(dependencies),
    ...walletTransactionOperations(dependencies),
    ...salesOperations(dependencies),
    ...reconciliationOperations(dependencies),
    ...storefrontUpdateOperations(dependencies),
    ...webhookEndpointOperations(dependencies),
    ...serviceSecretOperations(dependencies),
    ...auditLogOperations(dependencies),
    ...serviceWebhookOperations(dependencies),
    ...healthOperations(dependencies),
  ];
  return [...operations, ...documentationOperations(operations, productVersion(), dependencies.publicUrl)];
}
