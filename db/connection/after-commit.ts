/** What must follow the commit of a transaction: the writer knows it, the committer does it. */
const announcing = new WeakSet<object>();

/** Marks a transaction that announces events, so that they are published after its commit. */
export function announcesEvents(tx: object): void {
  announcing.add(tx);
}

/** True when this transaction has announced events; clears the mark. */
export function takeAnnounced(tx: object): boolean {
  return announcing.delete(tx);
}
