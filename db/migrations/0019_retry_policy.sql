ALTER TABLE "cancellations" ADD COLUMN "retry_rule" jsonb;--> statement-breakpoint
ALTER TABLE "cancellations" ADD COLUMN "retry_overrides" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "retry_rule" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "retry_overrides" jsonb;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "retry_rule" jsonb;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "retry_overrides" jsonb;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "retry_rule" jsonb;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "retry_overrides" jsonb;