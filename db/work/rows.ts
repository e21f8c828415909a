/** Rows as the database stores them: the tables of `db/schema/`. */
import type {
  attempts,
  cancellations,
  esims,
  orderBatches,
  orders,
  refunds,
  topups,
  vpnSubscriptions,
} from '#db/schema.ts';

export type AttemptRow = typeof attempts.$inferSelect;
export type CancellationRow = typeof cancellations.$inferSelect;
export type EsimRow = typeof esims.$inferSelect;
export type OrderBatchRow = typeof orderBatches.$inferSelect;
export type OrderRow = typeof orders.$inferSelect;
export type RefundRow = typeof refunds.$inferSelect;
export type TopupRow = typeof topups.$inferSelect;
export type VpnSubscriptionRow = typeof vpnSubscriptions.$inferSelect;
