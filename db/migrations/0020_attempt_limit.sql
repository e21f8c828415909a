ALTER TABLE "attempts" ADD COLUMN "limit_amount" numeric(21, 6);--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "limit_currency" text;--> statement-breakpoint
-- What was sent before this migration was held against the limit of its work.
UPDATE "attempts" SET "limit_amount" = "work"."max_price_amount", "limit_currency" = "work"."max_price_currency"
FROM (
  SELECT 'order' AS "kind", "id", "max_price_amount", "max_price_currency" FROM "orders"
  UNION ALL SELECT 'topup', "id", "max_price_amount", "max_price_currency" FROM "topups"
  UNION ALL SELECT 'vpn_subscription', "id", "max_price_amount", "max_price_currency" FROM "vpn_subscriptions"
) AS "work"
WHERE "work"."kind" = "attempts"."subject_kind" AND "work"."id" = "attempts"."subject_id" AND "attempts"."sends" > 0;
