ALTER TABLE "cancellations" ADD COLUMN "compared_epoch" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "compared_epoch" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "compared_epoch" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "compared_epoch" text;