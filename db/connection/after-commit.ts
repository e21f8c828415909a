/** What a transaction leaves to be done once it has committed: whoever writes knows it, whoever commits does it. */
const announcing = new WeakSet<object>();

/** Notes that this transaction announces events, so that somebody is to publish them. */
export function announcesEvents(tx: object): void {
  announcing.add(tx);
}

/** True when events were announced in this transaction; from then on, nothing was. */
export function takeAnnounced(tx: object): boolean {
  return announcing.delete(tx);
}
