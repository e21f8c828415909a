/** Uniqueness is enforced here: a workflow id is unique only as long as Temporal retains it. */
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
