ALTER TABLE "cancellations" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "request_id" text;