import express, { type Express } from 'express';
import { auditLogOperations } from '#api/access/audit-log.ts';
import { KeyLookups } from '#api/access/key-lookups.ts';
import { ownKeyOperations } from '#api/access/own-key.ts';
import { RateLimits } from '#api/access/rate-limits.ts';
import { cancellationPreflightOperations } from '#api/cancellations/cancellation-preflight.ts';
import { cancellationOperations } from '#api/cancellations/cancellations.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { esimOperations } from '#api/esims/esims.ts';
import { topupOperations } from '#api/esims/topups.ts';
import { eventOperations } from '#api/events/events.ts';
import { refuseAmbiguousHeaders } from '#api/http/ambiguous-headers.ts';
import { mountOperations } from '#api/http/mount.ts';
import type { Operation } from '#api/http/operation.ts';
import { requestContext } from '#api/http/request-context.ts';
import { securityHeaders } from '#api/http/security-headers.ts';
import { booksOperations } from '#api/money/books.ts';
import { walletOperations } from '#api/money/wallet.ts';
import { docsOperations } from '#api/openapi/documentation-page.ts';
import { productVersion } from '#api/openapi/version.ts';
import { deadLetterOperations } from '#api/operations/dead-letters.ts';
import { healthOperations } from '#api/operations/health.ts';
import { pauseOperations } from '#api/operations/pauses.ts';
import { purchaseGateOperations } from '#api/operations/purchase-gate.ts';
import { orderOperations } from '#api/orders/orders.ts';
import { packageList } from '#api/packages/package-list.ts';
import { packageOperations } from '#api/packages/packages.ts';
import { pricingOperations } from '#api/packages/pricing.ts';
import { databaseUnavailable, errorHandler } from '#api/problems/errors.ts';
import { serviceSecretOperations } from '#api/service-webhooks/service-secret.ts';
import { webhookOperations } from '#api/service-webhooks/service-webhooks.ts';
import { StrangerBodies } from '#api/service-webhooks/stranger-bodies.ts';
import { updateOperations } from '#api/service-webhooks/updates.ts';
import { vpnOperations } from '#api/vpn/vpn.ts';
import { webhookEndpointOperations } from '#api/webhook-endpoints/webhook-endpoints.ts';
import { caseOperations } from '#api/work/cases.ts';
import { findApiKeys } from '#db/access/api-keys.ts';
import { STRANGER_BODIES } from '#domain/service/stranger-bodies.ts';

/** Puts the API together. Opens nothing: whoever calls listens. */
export function createApp(dependencies: ApiDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  // Answers are not to be cached, so a hash of each would be computed for nothing.
  app.disable('etag');
  // One address for one thing: `/v1/orders/` is not `/v1/orders`.
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
  const keys = new KeyLookups((prefixes) => dependencies.database.run((db) => findApiKeys(db, prefixes)));
  // Typed by people; relative, so that a proxy may put all of it below a path of its own.
  app.get('/docs/', (_request, response) => response.redirect(308, '../docs'));
  mountOperations(app, allOperations(dependencies), {
    ...dependencies,
    keys,
    limits,
    strangerBodies: new StrangerBodies(STRANGER_BODIES),
  });
  app.use(errorHandler(dependencies));
  return app;
}

/** Every call of the API. */
export function allOperations(dependencies: ApiDependencies): Operation[] {
  const packages = packageList(dependencies);
  const operations = [
    ...orderOperations(dependencies),
    ...topupOperations(dependencies),
    ...vpnOperations(dependencies),
    ...cancellationOperations(dependencies),
    ...eventOperations(dependencies),
    ...caseOperations(dependencies),
    ...deadLetterOperations(dependencies),
    ...purchaseGateOperations(dependencies),
    ...pauseOperations(dependencies),
    ...ownKeyOperations(dependencies),
    ...esimOperations(dependencies),
    ...cancellationPreflightOperations(dependencies),
    ...packageOperations(dependencies, packages),
    ...pricingOperations(dependencies, packages),
    ...walletOperations(dependencies),
    ...booksOperations(dependencies),
    ...updateOperations(dependencies),
    ...webhookEndpointOperations(dependencies),
    ...serviceSecretOperations(dependencies),
    ...auditLogOperations(dependencies),
    ...webhookOperations(dependencies),
    ...healthOperations(dependencies),
  ];
  return [...operations, ...docsOperations(operations, productVersion())];
}
