ALTER TABLE "events" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "cancellations" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "traceparent" text;