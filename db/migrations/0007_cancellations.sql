CREATE TABLE "cancellations" (
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
	"reason" text,
	"accept_without_refund" boolean NOT NULL,
	"preflight" jsonb,
	"cancelled_at" timestamp (3) with time zone,
	CONSTRAINT "cancellations_status" CHECK ("cancellations"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'refused', 'abandoned')),
	CONSTRAINT "cancellations_of_esim" CHECK ("cancellations"."esim_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" text PRIMARY KEY NOT NULL,
	"cancellation_id" text NOT NULL,
	"esim_id" text NOT NULL,
	"order_id" text NOT NULL,
	"service_refund_id" text,
	"status" text NOT NULL,
	"service_state" text,
	"review" text,
	"verdict" text,
	"amount" numeric(21, 6),
	"currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "refunds_cancellation_id_unique" UNIQUE("cancellation_id"),
	CONSTRAINT "refunds_service_refund_id_unique" UNIQUE("service_refund_id"),
	CONSTRAINT "refunds_status" CHECK ("refunds"."status" in ('expected', 'manual_review', 'completed', 'failed', 'needs_attention'))
);
--> statement-breakpoint
DROP INDEX "orders_unfinished";--> statement-breakpoint
DROP INDEX "topups_unfinished";--> statement-breakpoint
DROP INDEX "vpn_subscriptions_unfinished";--> statement-breakpoint
CREATE UNIQUE INDEX "cancellations_one_of_esim" ON "cancellations" USING btree ("esim_id") WHERE "cancellations"."status" not in ('refused', 'abandoned');--> statement-breakpoint
CREATE INDEX "cancellations_page" ON "cancellations" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_status_page" ON "cancellations" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_esim_page" ON "cancellations" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_unfinished" ON "cancellations" USING btree ("updated_at") WHERE "cancellations"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "refunds_page" ON "refunds" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refunds_status_page" ON "refunds" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "attempts_cancellation_esim" ON "attempts" USING btree ("service_esim_id") WHERE "attempts"."subject_kind" = 'cancellation';--> statement-breakpoint
CREATE INDEX "inbox_unmatched_service_esim_id" ON "inbox" USING btree ("service_esim_id") WHERE "inbox"."state" = 'unmatched';--> statement-breakpoint
CREATE INDEX "orders_unfinished" ON "orders" USING btree ("updated_at") WHERE "orders"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "topups_unfinished" ON "topups" USING btree ("updated_at") WHERE "topups"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_unfinished" ON "vpn_subscriptions" USING btree ("updated_at") WHERE "vpn_subscriptions"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');