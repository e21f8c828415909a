/**
 * Measures contestants in turn, A B C C B A …, so that whatever else the machine does at a time, and whatever one leaves
 * behind for the next, meets all of them. The first time round warms up and is thrown away.
 *
 * @param contestants each measures itself once; `round` is 0 in the warm-up.
 * @returns the figures of each contestant, round by round.
 */
export async function inTurn<Name extends string, Figures>(
  contestants: Readonly<Record<Name, (round: number) => Promise<Figures>>>,
  rounds: number,
): Promise<Record<Name, Figures[]>> {
  const names = Object.keys(contestants) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figures = await contestants[name](round);
      if (round > 0) measured[name].push(figures);
    }
  }
  return measured;
}
