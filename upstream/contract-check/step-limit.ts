/** Limits the work that one document can cause, so that a comparison always ends. */
import { NotComparable, type JsonObject } from '#upstream/contract-check/schema/document.ts';

/** A schema, or all schemas of a document together, would take too many steps to compare. */
export class NestedTooDeeply extends NotComparable {
  constructor() {
    super('is nested too deeply to be compared');
    this.name = 'NestedTooDeeply';
  }
}

/** Maximum nesting of references and combinations; a real document has a handful. */
const MAX_DEPTH = 100;

// A step is one schema to resolve, or one field to combine. A whole interface needs far fewer.
const MAX_STEPS = 2_000_000;

const STEPS_LEFT = new WeakMap<JsonObject, number>();

/** Gives a document its full number of steps, at the start of a comparison. */
export function resetSteps(document: JsonObject): void {
  STEPS_LEFT.set(document, MAX_STEPS);
}

/** @throws NestedTooDeeply when the document has used up its steps. */
export function takeSteps(document: JsonObject, steps: number): void {
  const left = (STEPS_LEFT.get(document) ?? MAX_STEPS) - steps;
  STEPS_LEFT.set(document, left);
  if (left < 0) throw new NestedTooDeeply();
}

/** @throws NestedTooDeeply */
export function assertDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new NestedTooDeeply();
}
