import fc from 'fast-check';
import type { Model, ModelledWork, World } from '#test/fault/model/world.ts';

export type Command = fc.AsyncCommand<Model, World>;

/** A command that ends with {@link World.check}. @param possible whether the model allows the command. */
export function command(
  name: string,
  run: (model: Model, world: World) => Promise<void>,
  possible: (model: Model) => boolean = () => true,
): Command {
  return {
    check: possible,
    run: async (model, world) => {
      await run(model, world);
      await world.check(model);
    },
    toString: () => name,
  };
}

export const hasWork = ({ work }: Model): boolean => work.length > 0;

/** A command for one piece of work. @param fits the work that the command may use. */
export function onWork(
  name: string,
  perform: (model: Model, world: World, index: number) => Promise<void>,
  fits: (work: ModelledWork) => boolean = () => true,
): fc.Arbitrary<Command> {
  return fc.nat().map((which) =>
    command(
      `${name} ${which}`,
      (model, world) => {
        const fitting = [...model.work.keys()].filter((index) => fits(model.work[index]!));
        return perform(model, world, fitting[which % fitting.length]!);
      },
      ({ work }) => work.some(fits),
    ),
  );
}

export function deliveredEsims({ work }: Model): string[] {
  return work.flatMap(({ kind, esim }) => (kind === 'order' && esim !== undefined ? [esim] : []));
}
