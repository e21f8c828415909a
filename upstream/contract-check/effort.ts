/** How much of a document is looked at: a document cannot make the comparison take for ever. */
import { NotComparable, type JsonObject } from '#upstream/contract-check/schema/document.ts';

/** A schema, or all schemas of a document together, that take too much to compare. */
export class NestedTooDeeply extends NotComparable {
  constructor() {
    super('is nested too deeply to be compared');
    this.name = 'NestedTooDeeply';
  }
}

/** References and combinations that lie in one another; a real document has a handful. */
const MAX_DEPTH = 100;

// Schemas that are looked at, and fields of those that are put together: far more than a whole interface needs.
const MAX_STEPS = 2_000_000;

const STEPS_LEFT = new WeakMap<JsonObject, number>();

/** Gives a document all its steps, at the beginning of a comparison. */
export function beginEffort(document: JsonObject): void {
  STEPS_LEFT.set(document, MAX_STEPS);
}

/** @throws NestedTooDeeply when the document has no steps left. */
export function spend(document: JsonObject, steps: number): void {
  const left = (STEPS_LEFT.get(document) ?? MAX_STEPS) - steps;
  STEPS_LEFT.set(document, left);
  if (left < 0) throw new NestedTooDeeply();
}

/** @throws NestedTooDeeply */
export function assertDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new NestedTooDeeply();
}
