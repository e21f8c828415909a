ALTER TABLE "attempts" ADD COLUMN "service_message" text;--> statement-breakpoint
ALTER TABLE "cancellations" ADD COLUMN "service_message" text;--> statement-breakpoint
ALTER TABLE "cancellations" ADD COLUMN "failure_end" text;--> statement-breakpoint
ALTER TABLE "cancellations" ADD COLUMN "when_used_up" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "service_message" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "failure_end" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "when_used_up" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "service_message" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "failure_end" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "when_used_up" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "service_message" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "failure_end" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "when_used_up" text;