ALTER TABLE "esims" ADD COLUMN "encrypted_customer_reference" "bytea";--> statement-breakpoint
ALTER TABLE "esims" ADD COLUMN "customer_reference_hash" "bytea";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "encrypted_customer_reference" "bytea";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "customer_reference_hash" "bytea";--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "encrypted_customer_reference" "bytea";--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "customer_reference_hash" "bytea";--> statement-breakpoint
CREATE INDEX "esims_customer_page" ON "esims" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "esims"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE INDEX "cancellations_metadata" ON "cancellations" USING gin ("metadata" jsonb_path_ops) WHERE "cancellations"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "orders_customer_page" ON "orders" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE INDEX "orders_metadata" ON "orders" USING gin ("metadata" jsonb_path_ops) WHERE "orders"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "topups_customer_page" ON "topups" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE INDEX "topups_metadata" ON "topups" USING gin ("metadata" jsonb_path_ops) WHERE "topups"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_metadata" ON "vpn_subscriptions" USING gin ("metadata" jsonb_path_ops) WHERE "vpn_subscriptions"."metadata" <> '{}'::jsonb;