/** What shows, before anything is bought, that the service's answers have the shapes of the contract. */
export { lookAtService, type FirstContactClient, type LookOptions } from '#upstream/first-contact/look.ts';
