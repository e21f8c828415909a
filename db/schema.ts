/**
 * Uniqueness is enforced here: a workflow id is unique only as long as Temporal retains it.
 *
 * Rows are locked in this order, so that no two transactions wait for each other: work, its attempts, its eSIM, refunds,
 * circuits, the account (`lockAccount`), lines and waits of the gate, outbox. Inbox rows follow the work, deliveries
 * their endpoint. Only the books lock a refund before its eSIM; a deadlock is repeated.
 */
export * from '#db/schema/access.ts';
export * from '#db/schema/attempts.ts';
export * from '#db/schema/books.ts';
export * from '#db/schema/catalogue.ts';
export * from '#db/schema/esims.ts';
export * from '#db/schema/events.ts';
export * from '#db/schema/gate.ts';
export * from '#db/schema/queues.ts';
export * from '#db/schema/service.ts';
export * from '#db/schema/work.ts';
