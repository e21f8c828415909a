CREATE TABLE "vpn_subscriptions" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
	"extra_attempts" integer DEFAULT 0 NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'accepted' NOT NULL,
	"failure_class" text,
	"failure_detail" text,
	"attention_reason" text,
	"next_step_at" timestamp (3) with time zone,
	"esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"swept_at" timestamp (3) with time zone,
	"external_subscription_id" text NOT NULL,
	"vpn_plan_id" integer NOT NULL,
	"sealed_customer_reference" "bytea" NOT NULL,
	"customer_price" numeric(21, 6) NOT NULL,
	"sealed_access" "bytea",
	"started_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"ended_as" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_accepted_at" timestamp (3) with time zone,
	CONSTRAINT "vpn_subscriptions_external_subscription_id_unique" UNIQUE("external_subscription_id"),
	CONSTRAINT "vpn_subscriptions_status" CHECK ("vpn_subscriptions"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'active', 'cancelling', 'cancelled', 'expired', 'failed', 'abandoned')),
	CONSTRAINT "vpn_subscriptions_ended_as" CHECK ("vpn_subscriptions"."ended_as" in ('cancelled', 'expired'))
);
--> statement-breakpoint
DROP INDEX "orders_unfinished";--> statement-breakpoint
DROP INDEX "topups_unfinished";--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_page" ON "vpn_subscriptions" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_status_page" ON "vpn_subscriptions" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_unfinished" ON "vpn_subscriptions" USING btree ("updated_at") WHERE "vpn_subscriptions"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired');--> statement-breakpoint
CREATE INDEX "orders_unfinished" ON "orders" USING btree ("updated_at") WHERE "orders"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired');--> statement-breakpoint
CREATE INDEX "topups_unfinished" ON "topups" USING btree ("updated_at") WHERE "topups"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired');