ALTER TABLE "orders" DROP CONSTRAINT "orders_external_order_id_unique";--> statement-breakpoint
ALTER TABLE "topups" DROP CONSTRAINT "topups_external_topup_id_unique";--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" DROP CONSTRAINT "vpn_subscriptions_external_subscription_id_unique";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "reference_use" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "replaces_id" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "request_key" "bytea";--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "reference_use" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "replaces_id" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "request_key" "bytea";--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "reference_use" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "replaces_id" text;--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "request_key" "bytea";--> statement-breakpoint
CREATE UNIQUE INDEX "orders_reference_use" ON "orders" USING btree ("external_order_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_reference_in_use" ON "orders" USING btree ("external_order_id") WHERE "orders"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "orders_replaces" ON "orders" USING btree ("replaces_id") WHERE "orders"."replaces_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "topups_reference_use" ON "topups" USING btree ("external_topup_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "topups_reference_in_use" ON "topups" USING btree ("external_topup_id") WHERE "topups"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "topups_replaces" ON "topups" USING btree ("replaces_id") WHERE "topups"."replaces_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_reference_use" ON "vpn_subscriptions" USING btree ("external_subscription_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_reference_in_use" ON "vpn_subscriptions" USING btree ("external_subscription_id") WHERE "vpn_subscriptions"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_replaces" ON "vpn_subscriptions" USING btree ("replaces_id") WHERE "vpn_subscriptions"."replaces_id" is not null;