/**
 * Checks with free reads, before anything is bought, that the answers of the service have the shapes of the contract.
 */
export { lookAtService, type FirstPurchaseCheckClient, type LookOptions } from '#upstream/first-purchase-check/look.ts';
