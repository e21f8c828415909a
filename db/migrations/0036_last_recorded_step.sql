ALTER TABLE "cancellations" ADD COLUMN "recorded_in" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "recorded_in" jsonb;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "recorded_in" jsonb;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "recorded_in" jsonb;