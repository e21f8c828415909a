CREATE TABLE "topups" (
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
	"external_topup_id" text,
	"package_id" integer NOT NULL,
	CONSTRAINT "topups_external_topup_id_unique" UNIQUE("external_topup_id"),
	CONSTRAINT "topups_status" CHECK ("topups"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'failed', 'abandoned')),
	CONSTRAINT "topups_of_esim" CHECK ("topups"."esim_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "busy_esim_id" text;--> statement-breakpoint
ALTER TABLE "cases" ADD COLUMN "attempt_id" text;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "service_esim_id" text;--> statement-breakpoint
CREATE INDEX "topups_page" ON "topups" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_status_page" ON "topups" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_esim_page" ON "topups" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_unfinished" ON "topups" USING btree ("updated_at") WHERE "topups"."status" not in ('completed', 'failed', 'abandoned');--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_busy_esim_id_unique" UNIQUE("busy_esim_id");