DROP INDEX "events_api_key";--> statement-breakpoint
DROP INDEX "events_occurred";--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" ADD COLUMN "customer_reference_hash" "bytea";--> statement-breakpoint
CREATE INDEX "events_owner_type" ON "events" USING btree ("api_key_id","type","position");--> statement-breakpoint
CREATE INDEX "esims_package_page" ON "esims" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_updated" ON "cancellations" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "cancellations_failure_page" ON "cancellations" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "cancellations"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "cancellations_attention_page" ON "cancellations" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "cancellations"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "orders_package_page" ON "orders" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_esim" ON "orders" USING btree ("esim_id");--> statement-breakpoint
CREATE INDEX "orders_updated" ON "orders" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "orders_failure_page" ON "orders" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "orders_attention_page" ON "orders" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "refunds_esim_page" ON "refunds" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refunds_updated" ON "refunds" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "topups_package_page" ON "topups" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_updated" ON "topups" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "topups_failure_page" ON "topups" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "topups_attention_page" ON "topups" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_plan_page" ON "vpn_subscriptions" USING btree ("vpn_plan_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_customer_page" ON "vpn_subscriptions" USING btree ("customer_reference_hash","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_updated" ON "vpn_subscriptions" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_failure_page" ON "vpn_subscriptions" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "vpn_subscriptions"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_attention_page" ON "vpn_subscriptions" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "vpn_subscriptions"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "events_occurred" ON "events" USING btree ("occurred_at","position");