import { registerHooks } from 'node:module';

/**
 * Replaces a module in this process, for modules that are imported afterwards. The replacement imports the rest from the
 * original.
 * @param of only for the module whose address ends like this.
 */
export function replaceModule(name: string, by: URL, of = ''): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      const parent = context.parentURL ?? '';
      const isReplaced = specifier === name && parent !== by.href && parent.endsWith(of);
      return next(isReplaced ? by.href : specifier, context);
    },
  });
}
