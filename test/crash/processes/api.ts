/** The API of the crash proof: the API of the product, with named points. */
import { watchApi } from '#test/crash/processes/watched-api.ts';

watchApi();
await import('#api/main.ts');
