import * as z from 'zod';

/** The route of the plugin that answers with the script for browsers. */
const SCRIPT_ROUTE = '/js/scalar.js';

type Handler = (request: unknown, reply: unknown) => unknown;
const isFunction = (value: unknown) => typeof value === 'function';

const plugin = z.looseObject({
  default: z.custom<(fastify: unknown, options: unknown, done: () => void) => void>(isFunction),
});

const route = z.object({ url: z.string(), handler: z.custom<Handler>(isFunction) });

/**
 * The script of Scalar's API reference for browsers.
 *
 * The package for Fastify contains this script and depends on small packages. `@scalar/api-reference` contains the same
 * script, and installs 310 MB of parts that the script already includes. So the plugin is registered with a recorder of
 * its routes, and the handler of the script is called once.
 *
 * @throws Error when the plugin has no such route; a test notices it after an update.
 */
export async function scalarBundle(): Promise<string> {
  const loaded: unknown = await import('@scalar/fastify-api-reference');
  const routes: unknown[] = [];
  const recorder = {
    route: (each: unknown) => void routes.push(each),
    hasPlugin: () => false,
    initialConfig: {},
  };
  plugin.parse(loaded).default(recorder, { configuration: { url: 'openapi.json' } }, () => undefined);
  const found = routes.map((each) => route.safeParse(each).data).find((each) => each?.url.endsWith(SCRIPT_ROUTE));
  if (found === undefined) throw new Error(`the plugin has no route ${SCRIPT_ROUTE}`);
  let script: unknown;
  const reply = {
    header: () => reply,
    send: (content: unknown) => {
      script = content;
      return reply;
    },
  };
  found.handler(undefined, reply);
  return z.string().min(1_000_000).parse(script);
}
