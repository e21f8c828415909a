/** Transitions without faults. */
export class Edges {
  #pairs = new Int32Array(1 << 16);
  #count = 0;

  add(from: number, to: number): void {
    if (this.#count * 2 === this.#pairs.length) {
      const pairs = new Int32Array(this.#pairs.length * 2);
      pairs.set(this.#pairs);
      this.#pairs = pairs;
    }
    this.#pairs[this.#count * 2] = from;
    this.#pairs[this.#count * 2 + 1] = to;
    this.#count += 1;
  }

  /** The first state without a path to one of the goals. */
  firstWithoutWayTo(goals: readonly boolean[]): number | undefined {
    const states = goals.length;
    const starts = new Int32Array(states + 1);
    for (let edge = 0; edge < this.#count; edge += 1)
      starts[(this.#pairs[edge * 2 + 1] ?? 0) + 1] = (starts[(this.#pairs[edge * 2 + 1] ?? 0) + 1] ?? 0) + 1;
    for (let at = 0; at < states; at += 1) starts[at + 1] = (starts[at + 1] ?? 0) + (starts[at] ?? 0);
    const sources = new Int32Array(this.#count);
    const filled = starts.slice();
    for (let edge = 0; edge < this.#count; edge += 1) {
      const to = this.#pairs[edge * 2 + 1] ?? 0;
      sources[filled[to] ?? 0] = this.#pairs[edge * 2] ?? 0;
      filled[to] = (filled[to] ?? 0) + 1;
    }
    const reached = Uint8Array.from(goals, Number);
    const waiting = goals.flatMap((isGoal, at) => (isGoal ? [at] : []));
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (let edge = starts[at] ?? 0; edge < (starts[at + 1] ?? 0); edge += 1) {
        const from = sources[edge] ?? 0;
        if (reached[from] === 1) continue;
        reached[from] = 1;
        waiting.push(from);
      }
    }
    const first = reached.indexOf(0);
    return first < 0 ? undefined : first;
  }
}
