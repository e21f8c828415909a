/** Cuts connections to PostgreSQL at chosen moments of a transaction, as an inspector of a {@link NetworkProxy}. */
import type { PlannedCut } from '#test/crash/plans/plan.ts';
import type { Inspector } from '#test/crash/run/proxy.ts';

/** The two statements as the product sends them: simple queries with a final zero byte. */
const BEGIN = Buffer.from('BEGIN\0');
const COMMIT = Buffer.from('COMMIT\0');

/** Counts the transactions of all connections, and performs the planned cuts. */
export class TransactionCutter {
  readonly #cuts: readonly PlannedCut[];
  readonly #fired: PlannedCut[] = [];
  #begins = 0;
  #commits = 0;

  constructor(cuts: readonly PlannedCut[]) {
    this.#cuts = cuts;
  }

  get fired(): readonly PlannedCut[] {
    return this.#fired;
  }

  inspector(): Inspector {
    // The next bytes in one direction cut this connection.
    let atNextQuery = false;
    let atNextAnswer = false;
    return {
      toServer: (bytes) => {
        if (atNextQuery) return false;
        if (bytes.includes(BEGIN)) {
          this.#begins += 1;
          atNextQuery = this.#fires('in_transaction', this.#begins);
        }
        if (!bytes.includes(COMMIT)) return true;
        this.#commits += 1;
        if (this.#fires('before_commit', this.#commits)) return false;
        atNextAnswer = this.#fires('answer_of_commit', this.#commits);
        return true;
      },
      toClient: () => !atNextAnswer,
    };
  }

  #fires(moment: PlannedCut['moment'], hit: number): boolean {
    const cut = this.#cuts.find((each) => each.moment === moment && each.hit === hit);
    if (cut !== undefined) this.#fired.push(cut);
    return cut !== undefined;
  }
}
