CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_prefix_unique" UNIQUE("prefix")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" text PRIMARY KEY NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"number" integer NOT NULL,
	"idempotency_key" text NOT NULL,
	"reference" text NOT NULL,
	"sealed_request_body" "bytea" NOT NULL,
	"state" text DEFAULT 'prepared' NOT NULL,
	"sends" integer DEFAULT 0 NOT NULL,
	"any_unknown" boolean DEFAULT false NOT NULL,
	"first_sent_at" timestamp (3) with time zone,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"failure_class" text,
	"failure_detail" text,
	"service_order_id" text,
	"service_esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_heard_at" timestamp (3) with time zone,
	"last_asked_at" timestamp (3) with time zone,
	CONSTRAINT "attempts_idempotency_key_unique" UNIQUE("idempotency_key"),
	CONSTRAINT "attempts_reference_unique" UNIQUE("reference"),
	CONSTRAINT "attempts_service_order_id_unique" UNIQUE("service_order_id"),
	CONSTRAINT "attempts_state" CHECK ("attempts"."state" in ('prepared', 'sending', 'unknown', 'refused', 'processing', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cases" (
	"id" text PRIMARY KEY NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"reason" text NOT NULL,
	"detail" text NOT NULL,
	"opened_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"resolution" text
);
--> statement-breakpoint
CREATE TABLE "esims" (
	"id" text PRIMARY KEY NOT NULL,
	"order_id" text NOT NULL,
	"service_esim_id" text NOT NULL,
	"iccid" text NOT NULL,
	"package_id" integer NOT NULL,
	"sealed_activation_code" "bytea" NOT NULL,
	"status" text NOT NULL,
	"installed_at" timestamp (3) with time zone,
	"activated_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"facts_read_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "esims_order_id_unique" UNIQUE("order_id"),
	CONSTRAINT "esims_service_esim_id_unique" UNIQUE("service_esim_id")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"api_key_id" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"response_status" integer NOT NULL,
	"response_headers" jsonb NOT NULL,
	"sealed_response_body" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_api_key_id_key_pk" PRIMARY KEY("api_key_id","key")
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"delivery_id" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"signed_hash" "bytea" NOT NULL,
	"sealed_body" "bytea" NOT NULL,
	"header_event" text,
	"event" text,
	"state" text NOT NULL,
	"note" text,
	"reference" text,
	"service_order_id" text,
	"outcome" text,
	"decision" text,
	"attempt_id" text,
	"subject_kind" text,
	"subject_id" text,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"applied_at" timestamp (3) with time zone,
	"tries" integer DEFAULT 0 NOT NULL,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	CONSTRAINT "inbox_state" CHECK ("inbox"."state" in ('pending', 'relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'))
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"service_base_url" text NOT NULL,
	"service_mode" text NOT NULL,
	"stamped_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "installation_one_row" CHECK ("installation"."singleton")
);
--> statement-breakpoint
CREATE TABLE "journal" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "journal_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"direction" text NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	"currency" text NOT NULL,
	"cause_kind" text NOT NULL,
	"cause_id" text NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "journal_positive" CHECK ("journal"."amount" >= 0),
	CONSTRAINT "journal_direction" CHECK ("journal"."direction" in ('debit', 'credit'))
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"external_order_id" text NOT NULL,
	"package_id" integer NOT NULL,
	"sealed_device_imei" "bytea",
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
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
	CONSTRAINT "orders_external_order_id_unique" UNIQUE("external_order_id"),
	CONSTRAINT "orders_status" CHECK ("orders"."status" in ('accepted', 'held', 'submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned')),
	CONSTRAINT "orders_completed_with_esim" CHECK ("orders"."status" <> 'completed' or "orders"."esim_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"topic" text NOT NULL,
	"subject_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "service_tokens" (
	"environment" text PRIMARY KEY NOT NULL,
	"sealed_token" "bytea" NOT NULL,
	"version" integer NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"renewed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "timeline" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"event" text NOT NULL,
	"message" text NOT NULL,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"dedup_key" text
);
--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_subject_number" ON "attempts" USING btree ("subject_kind","subject_id","number");--> statement-breakpoint
CREATE INDEX "attempts_open" ON "attempts" USING btree ("last_heard_at") WHERE "attempts"."state" in ('sending', 'unknown', 'processing');--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject_kind","subject_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "cases_one_open" ON "cases" USING btree ("subject_kind","subject_id","reason") WHERE "cases"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "cases_open" ON "cases" USING btree ("opened_at") WHERE "cases"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_delivery_body" ON "inbox" USING btree ("delivery_id","body_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_signed_content" ON "inbox" USING btree ("signed_hash") WHERE "inbox"."state" <> 'replayed';--> statement-breakpoint
CREATE INDEX "inbox_pending" ON "inbox" USING btree ("available_at","id") WHERE "inbox"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "inbox_unapplied" ON "inbox" USING btree ("subject_kind","subject_id") WHERE "inbox"."state" in ('pending', 'relayed');--> statement-breakpoint
CREATE INDEX "inbox_unmatched" ON "inbox" USING btree ("reference") WHERE "inbox"."state" = 'unmatched';--> statement-breakpoint
CREATE INDEX "inbox_unmatched_order" ON "inbox" USING btree ("service_order_id") WHERE "inbox"."state" = 'unmatched';--> statement-breakpoint
CREATE UNIQUE INDEX "journal_one_per_cause" ON "journal" USING btree ("cause_kind","cause_id","direction");--> statement-breakpoint
CREATE INDEX "orders_page" ON "orders" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_status_page" ON "orders" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_unfinished" ON "orders" USING btree ("updated_at") WHERE "orders"."status" not in ('completed', 'failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_topic_subject" ON "outbox" USING btree ("topic","subject_id");--> statement-breakpoint
CREATE INDEX "outbox_available" ON "outbox" USING btree ("available_at","id");--> statement-breakpoint
CREATE INDEX "timeline_subject" ON "timeline" USING btree ("subject_kind","subject_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "timeline_dedup" ON "timeline" USING btree ("subject_kind","subject_id","dedup_key");