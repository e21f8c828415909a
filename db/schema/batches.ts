/** Batches of orders. */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '#db/schema/columns.ts';

/** An item of a batch, as its caller gave it. */
export interface StoredBatchItem {
  readonly packageId: number;
  readonly quantity: number;
  /** The limit of each of its orders; null: none. */
  readonly maxPrice: { readonly amount: string; readonly currency: string } | null;
}

/** Orders that were accepted together. The orders have the `batch_id`. */
export const orderBatches = pgTable(
  'order_batches',
  {
    id: text('id').primaryKey(),
    /** Lineage of the API key that owns it and its orders. */
    apiKeyId: text('api_key_id').notNull(),
    externalBatchId: text('external_batch_id').notNull().unique(),
    items: jsonb('items').$type<readonly StoredBatchItem[]>().notNull(),
    metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
    /** Number of its orders. */
    size: integer('size').notNull(),
    /** How many orders have ended, by their end; counted in the transaction that ends the order. */
    completed: integer('completed').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    abandoned: integer('abandoned').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    /** When its last order ended. */
    completedAt: instant('completed_at'),
    /** Since then, no order that has bought nothing is sent. */
    cancelRequestedAt: instant('cancel_requested_at'),
    /** The API key that requested it. */
    cancelRequestedBy: text('cancel_requested_by'),
    cancelReason: text('cancel_reason'),
  },
  (table) => [
    check('order_batches_ended', sql`${table.completed} + ${table.failed} + ${table.abandoned} <= ${table.size}`),
    index('order_batches_page').on(table.createdAt.desc(), table.id.desc()),
    index('order_batches_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
  ],
);
