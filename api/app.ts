import express, { type Express } from 'express';
import { findApiKeys } from '#db/api-keys.ts';
import { refuseAmbiguousHeaders } from '#api/ambiguous-headers.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { databaseUnavailable, errorHandler } from '#api/errors.ts';
import { KeyLookups } from '#api/key-lookups.ts';
import { mountOperations } from '#api/mount.ts';
import type { Operation } from '#api/operation.ts';
import { RateLimits } from '#api/rate-limits.ts';
import { packageList } from '#api/package-list.ts';
import { requestContext } from '#api/request-context.ts';
import { auditLogOperations } from '#api/routes/audit-log.ts';
import { booksOperations } from '#api/routes/books.ts';
import { cancellationPreflightOperations } from '#api/routes/cancellation-preflight.ts';
import { cancellationOperations } from '#api/routes/cancellations.ts';
import { caseOperations } from '#api/routes/cases.ts';
import { deadLetterOperations } from '#api/routes/dead-letters.ts';
import { docsOperations } from '#api/routes/docs.ts';
import { eventOperations } from '#api/routes/events.ts';
import { esimOperations } from '#api/routes/esims.ts';
import { healthOperations } from '#api/routes/health.ts';
import { orderOperations } from '#api/routes/orders.ts';
import { packageOperations } from '#api/routes/packages.ts';
import { pricingOperations } from '#api/routes/pricing.ts';
import { ownKeyOperations } from '#api/routes/own-key.ts';
import { pauseOperations } from '#api/routes/pauses.ts';
import { purchaseGateOperations } from '#api/routes/purchase-gate.ts';
import { serviceSecretOperations } from '#api/routes/service-secret.ts';
import { topupOperations } from '#api/routes/topups.ts';
import { updateOperations } from '#api/routes/updates.ts';
import { vpnOperations } from '#api/routes/vpn.ts';
import { walletOperations } from '#api/routes/wallet.ts';
import { webhookEndpointOperations } from '#api/routes/webhook-endpoints.ts';
import { webhookOperations } from '#api/routes/webhooks.ts';
import { StrangerBodies } from '#api/stranger-bodies.ts';
import { STRANGER_BODIES } from '#domain/stranger-bodies.ts';
import { securityHeaders } from '#api/security-headers.ts';
import { productVersion } from '#api/version.ts';

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
