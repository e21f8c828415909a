/** The API of the crash proof: the product's own, with named points in it. */
import { watchApi } from '#test/crash/processes/watched-api.ts';

watchApi();
await import('#api/main.ts');
