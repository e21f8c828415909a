/**
 * For every activity of ours that is not a local one: how long nothing may be heard of it before Temporal counts it as
 * lost with its worker. A worker beats several times in that time; longer than a garbage collection or a busy machine
 * keeps it from doing so.
 */
export const HEARTBEAT_TIMEOUT = '10s';
