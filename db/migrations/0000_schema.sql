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
	"lineage_id" text,
	"own_work_only" boolean DEFAULT false NOT NULL,
	"rate_limit" integer,
	"spend_limit_amount" numeric(21, 6),
	"spend_limit_currency" text,
	CONSTRAINT "api_keys_prefix_unique" UNIQUE("prefix"),
	CONSTRAINT "api_keys_rate_limit" CHECK ("api_keys"."rate_limit" > 0)
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"reason" text
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"api_key_id" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"response_status" integer NOT NULL,
	"response_headers" jsonb NOT NULL,
	"encrypted_response_body" "bytea" NOT NULL,
	"kept_for_good" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_api_key_id_key_pk" PRIMARY KEY("api_key_id","key")
);
--> statement-breakpoint
CREATE TABLE "cases" (
	"id" text PRIMARY KEY NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"reason" text NOT NULL,
	"attempt_id" text,
	"product" integer,
	"detail" text NOT NULL,
	"opened_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"resolution" text
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
CREATE TABLE "order_batches" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"external_batch_id" text NOT NULL,
	"items" jsonb NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"size" integer NOT NULL,
	"completed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"abandoned" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_requested_by" text,
	"cancel_reason" text,
	CONSTRAINT "order_batches_external_batch_id_unique" UNIQUE("external_batch_id"),
	CONSTRAINT "order_batches_ended" CHECK ("order_batches"."completed" + "order_batches"."failed" + "order_batches"."abandoned" <= "order_batches"."size")
);
--> statement-breakpoint
CREATE TABLE "debit_delays" (
	"kind" text PRIMARY KEY NOT NULL,
	"longest_ms" bigint,
	"within_ms" bigint,
	"seen_at" timestamp (3) with time zone NOT NULL
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
	CONSTRAINT "journal_direction" CHECK ("journal"."direction" in ('debit', 'credit')),
	CONSTRAINT "journal_cause_kind" CHECK ("journal"."cause_kind" in ('attempt', 'subscription_period', 'refund', 'deposit', 'adjustment'))
);
--> statement-breakpoint
CREATE TABLE "journal_checkpoint" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"through" timestamp (3) with time zone NOT NULL,
	"sums" jsonb NOT NULL,
	CONSTRAINT "journal_checkpoint_one_row" CHECK ("journal_checkpoint"."singleton")
);
--> statement-breakpoint
CREATE TABLE "journal_outstanding" (
	"journal_id" bigint PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reconciliations" (
	"id" text PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"status" text NOT NULL,
	"detail" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"read_since" timestamp (3) with time zone NOT NULL,
	"pending_since" timestamp (3) with time zone,
	"balance" numeric(21, 6),
	"balance_currency" text,
	"expected_balance" numeric(21, 6),
	"counts" jsonb NOT NULL,
	"sums" jsonb NOT NULL,
	"findings" jsonb NOT NULL,
	"finding_counts" jsonb NOT NULL,
	CONSTRAINT "reconciliations_run_id_unique" UNIQUE("run_id"),
	CONSTRAINT "reconciliations_status" CHECK ("reconciliations"."status" in ('complete', 'incomplete', 'unsupported', 'unavailable'))
);
--> statement-breakpoint
CREATE TABLE "wallet_movements" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "wallet_movements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"service_id" text NOT NULL,
	"direction" text NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL,
	"order_id" text,
	"order_reference" text,
	"topup_id" text,
	"subscription_id" text,
	"subscription_reference" text,
	"esim_id" text,
	"refund_id" text,
	"cause_kind" text,
	"cause_id" text,
	"attempt_id" text,
	"first_reading" bigint,
	CONSTRAINT "wallet_movements_service_id_unique" UNIQUE("service_id"),
	CONSTRAINT "wallet_movements_positive" CHECK ("wallet_movements"."amount" >= 0),
	CONSTRAINT "wallet_movements_direction" CHECK ("wallet_movements"."direction" in ('debit', 'credit')),
	CONSTRAINT "wallet_movements_cause" CHECK (("wallet_movements"."cause_kind" is null) = ("wallet_movements"."cause_id" is null))
);
--> statement-breakpoint
CREATE TABLE "wallet_readings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "wallet_readings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"began_at" timestamp (3) with time zone NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"balance_amount" numeric(21, 6),
	"balance_currency" text,
	"is_whole" boolean NOT NULL,
	"reaches_back_to" bigint,
	"newest_row" text,
	"newest_row_at" timestamp (3) with time zone,
	"new_rows" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "catalogue_readings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "catalogue_readings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"catalogue" text NOT NULL,
	"run_id" text NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL,
	"complete" boolean NOT NULL,
	"verdict" text NOT NULL,
	"items" integer NOT NULL,
	"created" integer NOT NULL,
	"changed" integer NOT NULL,
	"removed" integer NOT NULL,
	"suspected" bigint[] NOT NULL,
	CONSTRAINT "catalogue_readings_catalogue" CHECK ("catalogue_readings"."catalogue" in ('packages', 'vpn_plans')),
	CONSTRAINT "catalogue_readings_verdict" CHECK ("catalogue_readings"."verdict" in ('recorded', 'incomplete', 'suspicious'))
);
--> statement-breakpoint
CREATE TABLE "packages" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"search_name" text NOT NULL,
	"validity_days" bigint,
	"price_amount" numeric(21, 6) NOT NULL,
	"price_currency" text NOT NULL,
	"available" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"removed_at" timestamp (3) with time zone,
	"countries" text[] NOT NULL,
	"data_mb" double precision,
	"unlimited" boolean,
	"public_price_amount" numeric(21, 6),
	"public_price_currency" text
);
--> statement-breakpoint
CREATE TABLE "vpn_plans" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"search_name" text NOT NULL,
	"duration_days" bigint,
	"price_amount" numeric(21, 6) NOT NULL,
	"price_currency" text NOT NULL,
	"available" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"removed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "esim_usage" (
	"esim_id" text PRIMARY KEY NOT NULL,
	"used_mb" double precision NOT NULL,
	"total_mb" double precision,
	"unlimited" boolean,
	"measured_at" timestamp (3) with time zone,
	"read_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "esims" (
	"id" text PRIMARY KEY NOT NULL,
	"order_id" text NOT NULL,
	"service_esim_id" text NOT NULL,
	"iccid" text,
	"package_id" integer NOT NULL,
	"encrypted_activation_code" "bytea" NOT NULL,
	"encrypted_customer_reference" "bytea",
	"customer_reference_hash" "bytea",
	"status" text NOT NULL,
	"installed_at" timestamp (3) with time zone,
	"activated_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"read_at" timestamp (3) with time zone NOT NULL,
	"watch_due_at" timestamp (3) with time zone DEFAULT now(),
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "esims_order_id_unique" UNIQUE("order_id"),
	CONSTRAINT "esims_service_esim_id_unique" UNIQUE("service_esim_id")
);
--> statement-breakpoint
CREATE TABLE "announcements" (
	"subject_id" text NOT NULL,
	"key" text NOT NULL,
	"announced_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "announcements_subject_id_key_pk" PRIMARY KEY("subject_id","key")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"sequence" bigserial PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"position" bigint,
	"type" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"api_key_id" text,
	"data" jsonb NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"traceparent" text,
	CONSTRAINT "events_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "gate_circuits" (
	"name" text PRIMARY KEY NOT NULL,
	"state" text DEFAULT 'closed' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"openings" integer DEFAULT 0 NOT NULL,
	"probe_at" timestamp (3) with time zone,
	"canary_until" timestamp (3) with time zone,
	"canary_kind" text,
	"canary_id" text,
	"detail" text,
	"opened_at" timestamp (3) with time zone,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "gate_circuits_state" CHECK ("gate_circuits"."state" in ('closed', 'open', 'probing', 'releasing'))
);
--> statement-breakpoint
CREATE TABLE "gate_drifts" (
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"attempt_id" text NOT NULL,
	"product" integer NOT NULL,
	"unfilled_since" timestamp (3) with time zone,
	"drifted_at" timestamp (3) with time zone,
	"detail" text NOT NULL,
	"settled_at" timestamp (3) with time zone,
	CONSTRAINT "gate_drifts_subject_kind_subject_id_pk" PRIMARY KEY("subject_kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "gate_lines" (
	"kind" text PRIMARY KEY NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"drifts" integer DEFAULT 0 NOT NULL,
	"stopped_products" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"stopped_at" timestamp (3) with time zone,
	"canaries" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"is_started" boolean DEFAULT false NOT NULL,
	"since" timestamp (3) with time zone,
	"detail" text,
	"longest_fill_ms" double precision DEFAULT 0 NOT NULL,
	CONSTRAINT "gate_lines_state" CHECK ("gate_lines"."state" in ('open', 'proving', 'product_stopped', 'stopped'))
);
--> statement-breakpoint
CREATE TABLE "gate_overrides" (
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"granted_by" text NOT NULL,
	"granted_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "gate_overrides_subject_kind_subject_id_pk" PRIMARY KEY("subject_kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "gate_pauses" (
	"id" text PRIMARY KEY NOT NULL,
	"origin" text DEFAULT 'operator' NOT NULL,
	"kind" text,
	"failure_class" text,
	"reason" text NOT NULL,
	"paused_by" text NOT NULL,
	"paused_at" timestamp (3) with time zone NOT NULL,
	"released_at" timestamp (3) with time zone,
	"released_by" text,
	"release_reason" text,
	CONSTRAINT "gate_pauses_origin" CHECK ("gate_pauses"."origin" in ('operator', 'first_purchase_check', 'amounts'))
);
--> statement-breakpoint
CREATE TABLE "gate_reservations" (
	"attempt_id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"day" date NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	"currency" text NOT NULL,
	"counted" numeric(21, 6) DEFAULT '0' NOT NULL,
	"made_at" timestamp (3) with time zone NOT NULL,
	"covered_by_reading" integer,
	"is_over" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gate_reserved" (
	"currency" text PRIMARY KEY NOT NULL,
	"amount" numeric(21, 6) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gate_spending" (
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"api_key_id" text NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	CONSTRAINT "gate_spending_day_currency_api_key_id_pk" PRIMARY KEY("day","currency","api_key_id")
);
--> statement-breakpoint
CREATE TABLE "gate_waits" (
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"barrier" text NOT NULL,
	"failure_class" text NOT NULL,
	"accepted_at" timestamp (3) with time zone NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"probes" integer DEFAULT 0 NOT NULL,
	"api_key_id" text NOT NULL,
	"may_have_bought" boolean DEFAULT false NOT NULL,
	"price_amount" numeric(21, 6),
	"price_currency" text,
	CONSTRAINT "gate_waits_subject_kind_subject_id_pk" PRIMARY KEY("subject_kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "gate_wallet" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"reads_started" integer DEFAULT 0 NOT NULL,
	"reading" integer,
	"balance_amount" numeric(21, 6),
	"balance_currency" text,
	"read_at" timestamp (3) with time zone,
	"low_since" timestamp (3) with time zone,
	"released_at" timestamp (3) with time zone,
	CONSTRAINT "gate_wallet_one_row" CHECK ("gate_wallet"."singleton")
);
--> statement-breakpoint
CREATE TABLE "wallet_runway" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"reckoned_at" timestamp (3) with time zone NOT NULL,
	"days" double precision,
	"low_since" timestamp (3) with time zone,
	CONSTRAINT "wallet_runway_one_row" CHECK ("wallet_runway"."singleton")
);
--> statement-breakpoint
CREATE TABLE "pricing_rule_versions" (
	"rule_id" text NOT NULL,
	"version" integer NOT NULL,
	"change" text NOT NULL,
	"terms" jsonb NOT NULL,
	"actor" text NOT NULL,
	"reason" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "pricing_rule_versions_rule_id_version_pk" PRIMARY KEY("rule_id","version"),
	CONSTRAINT "pricing_rule_versions_change" CHECK ("pricing_rule_versions"."change" in ('created', 'changed', 'ended'))
);
--> statement-breakpoint
CREATE TABLE "pricing_rules" (
	"id" text PRIMARY KEY NOT NULL,
	"target_kind" text NOT NULL,
	"target_key" text NOT NULL,
	"currency" text NOT NULL,
	"terms" jsonb NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "pricing_rules_target_kind" CHECK ("pricing_rules"."target_kind" in ('default', 'country', 'package', 'vpn_plan'))
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" text PRIMARY KEY NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"number" integer NOT NULL,
	"idempotency_key" text NOT NULL,
	"reference" text,
	"encrypted_request_body" "bytea" NOT NULL,
	"state" text DEFAULT 'prepared' NOT NULL,
	"sends" integer DEFAULT 0 NOT NULL,
	"any_unknown" boolean DEFAULT false NOT NULL,
	"first_sent_at" timestamp (3) with time zone,
	"first_unrefused_send_at" timestamp (3) with time zone,
	"last_sent_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"reading_before" bigint,
	"limit_amount" numeric(21, 6),
	"limit_currency" text,
	"price_amount" numeric(21, 6),
	"price_currency" text,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"failure_class" text,
	"failure_detail" text,
	"service_message" text,
	"settled" boolean DEFAULT false NOT NULL,
	"service_id" text,
	"service_esim_id" text,
	"busy_esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_report_at" timestamp (3) with time zone,
	"last_look_up_at" timestamp (3) with time zone,
	CONSTRAINT "attempts_idempotency_key_unique" UNIQUE("idempotency_key"),
	CONSTRAINT "attempts_state" CHECK ("attempts"."state" in ('prepared', 'sending', 'unknown', 'refused', 'processing', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"delivery_id" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"signed_hash" "bytea" NOT NULL,
	"encrypted_body" "bytea" NOT NULL,
	"header_event" text,
	"event" text,
	"state" text NOT NULL,
	"note" text,
	"reference" text,
	"service_id" text,
	"service_esim_id" text,
	"outcome" text,
	"decision" text,
	"attempt_id" text,
	"subject_kind" text,
	"subject_id" text,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"traceparent" text,
	"applied_at" timestamp (3) with time zone,
	"tries" integer DEFAULT 0 NOT NULL,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	"lasting_errors" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "inbox_state" CHECK ("inbox"."state" in ('pending', 'relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'))
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"topic" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"available_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lasting_errors" integer DEFAULT 0 NOT NULL,
	"quarantined_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "capability_profiles" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "capability_profiles_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"environment" text NOT NULL,
	"measured_at" timestamp (3) with time zone NOT NULL,
	"findings" jsonb NOT NULL,
	"evidence" jsonb NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"confirmed_by" text
);
--> statement-breakpoint
CREATE TABLE "encryption_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"check_value" "bytea" NOT NULL,
	"makes_hashes" boolean NOT NULL,
	"first_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
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
CREATE TABLE "refused_header_prefixes" (
	"verified" boolean PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"deliveries" bigint NOT NULL,
	"last_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schema_support" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"oldest_migrations" integer NOT NULL,
	CONSTRAINT "schema_support_one_row" CHECK ("schema_support"."singleton")
);
--> statement-breakpoint
CREATE TABLE "service_tokens" (
	"environment" text PRIMARY KEY NOT NULL,
	"encrypted_token" "bytea" NOT NULL,
	"version" integer NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"renewed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_secrets" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_secrets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"environment" text NOT NULL,
	"encrypted_secret" "bytea" NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"verifies_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "share_links" (
	"id" text PRIMARY KEY NOT NULL,
	"esim_id" text NOT NULL,
	"api_key_id" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"label" text,
	"language" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"views" integer DEFAULT 0 NOT NULL,
	"last_viewed_at" timestamp (3) with time zone,
	CONSTRAINT "share_links_secret_hash_unique" UNIQUE("secret_hash"),
	CONSTRAINT "share_links_expiry" CHECK ("share_links"."expires_at" > "share_links"."created_at"),
	CONSTRAINT "share_links_views" CHECK (("share_links"."views" > 0) = ("share_links"."last_viewed_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"endpoint_id" text NOT NULL,
	"event_id" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"tried_since" timestamp (3) with time zone NOT NULL,
	"failed_tries" integer DEFAULT 0 NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"last_status" integer,
	"last_failure" text,
	CONSTRAINT "webhook_deliveries_state" CHECK ("webhook_deliveries"."state" in ('pending', 'delivered', 'failed')),
	CONSTRAINT "webhook_deliveries_pending" CHECK (("webhook_deliveries"."state" = 'pending') = ("webhook_deliveries"."next_try_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoint_secrets" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"endpoint_id" text NOT NULL,
	"encrypted_secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"signs_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"owner_id" text,
	"url" text NOT NULL,
	"description" text,
	"event_types" text[] NOT NULL,
	"disabled_reason" text,
	"disabled_at" timestamp (3) with time zone,
	"disabled_after" bigint,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"last_failure" text,
	"last_delivered_at" timestamp (3) with time zone,
	"retry_at" timestamp (3) with time zone,
	"missed_since" timestamp (3) with time zone,
	"wakes_requested" bigint DEFAULT 0 NOT NULL,
	"wakes_sent" bigint DEFAULT 0 NOT NULL,
	"wake_is_urgent" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_tries" (
	"delivery_id" text NOT NULL,
	"number" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"duration_ms" integer NOT NULL,
	"status" integer,
	"failure" text,
	"encrypted_excerpt" "bytea",
	CONSTRAINT "webhook_tries_delivery_id_number_pk" PRIMARY KEY("delivery_id","number")
);
--> statement-breakpoint
CREATE TABLE "cancellations" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
	"extra_attempts" integer DEFAULT 0 NOT NULL,
	"retry_rule" jsonb,
	"retry_overrides" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'accepted' NOT NULL,
	"failure_class" text,
	"failure_detail" text,
	"service_message" text,
	"failure_end" text,
	"when_used_up" text,
	"attention_reason" text,
	"next_step_at" timestamp (3) with time zone,
	"esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"compared_epoch" text,
	"recorded_in" jsonb,
	"swept_at" timestamp (3) with time zone,
	"request_id" text,
	"traceparent" text,
	"reason" text,
	"on_unmet_conditions" text DEFAULT 'refuse' NOT NULL,
	"preflight" jsonb,
	"cancelled_at" timestamp (3) with time zone,
	CONSTRAINT "cancellations_status" CHECK ("cancellations"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'refused', 'abandoned')),
	CONSTRAINT "cancellations_of_esim" CHECK ("cancellations"."esim_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
	"extra_attempts" integer DEFAULT 0 NOT NULL,
	"retry_rule" jsonb,
	"retry_overrides" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'accepted' NOT NULL,
	"failure_class" text,
	"failure_detail" text,
	"service_message" text,
	"failure_end" text,
	"when_used_up" text,
	"attention_reason" text,
	"next_step_at" timestamp (3) with time zone,
	"esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"compared_epoch" text,
	"recorded_in" jsonb,
	"swept_at" timestamp (3) with time zone,
	"request_id" text,
	"traceparent" text,
	"external_order_id" text NOT NULL,
	"reference_use" integer DEFAULT 1 NOT NULL,
	"replaces_id" text,
	"request_key" "bytea",
	"encrypted_customer_reference" "bytea",
	"customer_reference_hash" "bytea",
	"package_id" integer NOT NULL,
	"customer_price" numeric(21, 6),
	"customer_price_currency" text,
	"encrypted_device_imei" "bytea",
	"batch_id" text,
	"batch_position" integer,
	CONSTRAINT "orders_status" CHECK ("orders"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'failed', 'abandoned')),
	CONSTRAINT "orders_completed_with_esim" CHECK ("orders"."status" <> 'completed' or "orders"."esim_id" is not null)
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
CREATE TABLE "topups" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
	"extra_attempts" integer DEFAULT 0 NOT NULL,
	"retry_rule" jsonb,
	"retry_overrides" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'accepted' NOT NULL,
	"failure_class" text,
	"failure_detail" text,
	"service_message" text,
	"failure_end" text,
	"when_used_up" text,
	"attention_reason" text,
	"next_step_at" timestamp (3) with time zone,
	"esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"compared_epoch" text,
	"recorded_in" jsonb,
	"swept_at" timestamp (3) with time zone,
	"request_id" text,
	"traceparent" text,
	"external_topup_id" text,
	"reference_use" integer DEFAULT 1 NOT NULL,
	"replaces_id" text,
	"request_key" "bytea",
	"encrypted_customer_reference" "bytea",
	"customer_reference_hash" "bytea",
	"package_id" integer NOT NULL,
	"customer_price" numeric(21, 6),
	"customer_price_currency" text,
	CONSTRAINT "topups_status" CHECK ("topups"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'failed', 'abandoned')),
	CONSTRAINT "topups_of_esim" CHECK ("topups"."esim_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "vpn_subscriptions" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"max_price_amount" numeric(21, 6),
	"max_price_currency" text,
	"deadline_at" timestamp (3) with time zone,
	"extra_attempts" integer DEFAULT 0 NOT NULL,
	"retry_rule" jsonb,
	"retry_overrides" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'accepted' NOT NULL,
	"failure_class" text,
	"failure_detail" text,
	"service_message" text,
	"failure_end" text,
	"when_used_up" text,
	"attention_reason" text,
	"next_step_at" timestamp (3) with time zone,
	"esim_id" text,
	"charged_amount" numeric(21, 6),
	"charged_currency" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"compared_epoch" text,
	"recorded_in" jsonb,
	"swept_at" timestamp (3) with time zone,
	"request_id" text,
	"traceparent" text,
	"external_subscription_id" text NOT NULL,
	"reference_use" integer DEFAULT 1 NOT NULL,
	"replaces_id" text,
	"request_key" "bytea",
	"vpn_plan_id" integer NOT NULL,
	"encrypted_customer_reference" "bytea" NOT NULL,
	"customer_reference_hash" "bytea" NOT NULL,
	"customer_price" numeric(21, 6) NOT NULL,
	"customer_price_currency" text NOT NULL,
	"encrypted_access" "bytea",
	"started_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"ended_as" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_accepted_at" timestamp (3) with time zone,
	CONSTRAINT "vpn_subscriptions_status" CHECK ("vpn_subscriptions"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'active', 'cancelling', 'cancelled', 'expired', 'failed', 'abandoned')),
	CONSTRAINT "vpn_subscriptions_ended_as" CHECK ("vpn_subscriptions"."ended_as" in ('cancelled', 'expired'))
);
--> statement-breakpoint
ALTER TABLE "journal_outstanding" ADD CONSTRAINT "journal_outstanding_journal_id_journal_id_fk" FOREIGN KEY ("journal_id") REFERENCES "public"."journal"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoint_secrets" ADD CONSTRAINT "webhook_endpoint_secrets_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_tries" ADD CONSTRAINT "webhook_tries_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_lineage" ON "api_keys" USING btree ("lineage_id");--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject_kind","subject_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","id");--> statement-breakpoint
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","id");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_forgotten_by" ON "idempotency_keys" USING btree ("created_at") WHERE not "idempotency_keys"."kept_for_good";--> statement-breakpoint
CREATE UNIQUE INDEX "cases_one_open" ON "cases" USING btree ("subject_kind","subject_id","reason") WHERE "cases"."closed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "cases_one_open_of_product" ON "cases" USING btree ("subject_kind","product","reason") WHERE "cases"."closed_at" is null and "cases"."product" is not null;--> statement-breakpoint
CREATE INDEX "cases_open" ON "cases" USING btree ("opened_at") WHERE "cases"."closed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "timeline_dedup" ON "timeline" USING btree ("subject_kind","subject_id","dedup_key");--> statement-breakpoint
CREATE INDEX "order_batches_page" ON "order_batches" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "order_batches_owner_page" ON "order_batches" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "journal_one_per_cause" ON "journal" USING btree ("cause_kind","cause_id","direction");--> statement-breakpoint
CREATE INDEX "journal_recorded_at" ON "journal" USING btree ("recorded_at");--> statement-breakpoint
CREATE INDEX "journal_credits" ON "journal" USING btree ("id") WHERE "journal"."direction" = 'credit';--> statement-breakpoint
CREATE INDEX "reconciliations_newest" ON "reconciliations" USING btree ("started_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "wallet_movements_first_reading" ON "wallet_movements" USING btree ("first_reading");--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_movements_one_per_cause" ON "wallet_movements" USING btree ("cause_kind","cause_id","direction");--> statement-breakpoint
CREATE INDEX "wallet_movements_attempt" ON "wallet_movements" USING btree ("attempt_id");--> statement-breakpoint
CREATE INDEX "wallet_movements_without_cause" ON "wallet_movements" USING btree ("occurred_at") WHERE "wallet_movements"."cause_kind" is null;--> statement-breakpoint
CREATE INDEX "wallet_movements_read" ON "wallet_movements" USING btree ("read_at");--> statement-breakpoint
CREATE INDEX "wallet_movements_order_id" ON "wallet_movements" USING btree ("order_id") WHERE "wallet_movements"."order_id" is not null;--> statement-breakpoint
CREATE INDEX "wallet_movements_order_reference" ON "wallet_movements" USING btree ("order_reference") WHERE "wallet_movements"."order_reference" is not null;--> statement-breakpoint
CREATE INDEX "wallet_movements_topup_id" ON "wallet_movements" USING btree ("topup_id") WHERE "wallet_movements"."topup_id" is not null;--> statement-breakpoint
CREATE INDEX "wallet_movements_subscription_id" ON "wallet_movements" USING btree ("subscription_id") WHERE "wallet_movements"."subscription_id" is not null;--> statement-breakpoint
CREATE INDEX "wallet_movements_subscription_reference" ON "wallet_movements" USING btree ("subscription_reference") WHERE "wallet_movements"."subscription_reference" is not null;--> statement-breakpoint
CREATE INDEX "wallet_movements_esim_id" ON "wallet_movements" USING btree ("esim_id") WHERE "wallet_movements"."esim_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "catalogue_readings_run" ON "catalogue_readings" USING btree ("catalogue","run_id");--> statement-breakpoint
CREATE INDEX "catalogue_readings_newest" ON "catalogue_readings" USING btree ("catalogue","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "packages_countries" ON "packages" USING gin ("countries");--> statement-breakpoint
CREATE INDEX "packages_updated" ON "packages" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "esims_page" ON "esims" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_status_page" ON "esims" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_package_page" ON "esims" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_customer_page" ON "esims" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "esims"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE INDEX "esims_iccid" ON "esims" USING btree ("iccid");--> statement-breakpoint
CREATE INDEX "esims_updated" ON "esims" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "esims_watch" ON "esims" USING btree ("watch_due_at") WHERE "esims"."watch_due_at" is not null;--> statement-breakpoint
CREATE INDEX "esims_expiry" ON "esims" USING btree ("expires_at","id") WHERE "esims"."expires_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("position");--> statement-breakpoint
CREATE INDEX "events_unpublished" ON "events" USING btree ("sequence") WHERE "events"."position" is null;--> statement-breakpoint
CREATE INDEX "events_subject" ON "events" USING btree ("subject_id","sequence");--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("type","position");--> statement-breakpoint
CREATE INDEX "events_owner_type" ON "events" USING btree ("api_key_id","type","position");--> statement-breakpoint
CREATE INDEX "events_occurred" ON "events" USING btree ("occurred_at","position");--> statement-breakpoint
CREATE INDEX "gate_drifts_open" ON "gate_drifts" USING btree ("subject_kind") WHERE "gate_drifts"."settled_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "gate_pauses_one_active" ON "gate_pauses" USING btree ("origin",coalesce("kind", ''),coalesce("failure_class", '')) WHERE "gate_pauses"."released_at" is null;--> statement-breakpoint
CREATE INDEX "gate_reservations_open" ON "gate_reservations" USING btree ("currency") WHERE not "gate_reservations"."is_over";--> statement-breakpoint
CREATE INDEX "gate_waits_queue" ON "gate_waits" USING btree ("barrier","probes","accepted_at");--> statement-breakpoint
CREATE INDEX "gate_waits_oldest" ON "gate_waits" USING btree ("barrier","accepted_at","subject_id");--> statement-breakpoint
CREATE INDEX "gate_waits_of_key" ON "gate_waits" USING btree ("barrier","api_key_id","accepted_at","subject_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pricing_rules_one_in_force" ON "pricing_rules" USING btree ("target_kind","target_key","currency") WHERE "pricing_rules"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "pricing_rules_page" ON "pricing_rules" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_subject_number" ON "attempts" USING btree ("subject_kind","subject_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_reference" ON "attempts" USING btree ("subject_kind","reference");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_service_id" ON "attempts" USING btree ("subject_kind","service_id");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_busy_esim" ON "attempts" USING btree ("busy_esim_id") WHERE "attempts"."busy_esim_id" is not null;--> statement-breakpoint
CREATE INDEX "attempts_service_esim" ON "attempts" USING btree ("service_esim_id") WHERE "attempts"."service_esim_id" is not null;--> statement-breakpoint
CREATE INDEX "attempts_open" ON "attempts" USING btree ("last_report_at") WHERE "attempts"."state" in ('sending', 'unknown', 'processing');--> statement-breakpoint
CREATE INDEX "attempts_failed" ON "attempts" USING btree ("subject_kind","id") WHERE "attempts"."state" in ('failed', 'refused');--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_delivery_body" ON "inbox" USING btree ("delivery_id","body_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_signed_content" ON "inbox" USING btree ("signed_hash") WHERE "inbox"."state" <> 'replayed';--> statement-breakpoint
CREATE INDEX "inbox_pending" ON "inbox" USING btree ("available_at","id") WHERE "inbox"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "inbox_unapplied" ON "inbox" USING btree ("subject_id") WHERE "inbox"."state" in ('pending', 'relayed', 'quarantined') and "inbox"."subject_id" is not null;--> statement-breakpoint
CREATE INDEX "inbox_quarantined" ON "inbox" USING btree ("id") WHERE "inbox"."state" = 'quarantined';--> statement-breakpoint
CREATE INDEX "inbox_open_reference" ON "inbox" USING btree ("reference") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."reference" is not null;--> statement-breakpoint
CREATE INDEX "inbox_open_service_esim_id" ON "inbox" USING btree ("service_esim_id") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."service_esim_id" is not null;--> statement-breakpoint
CREATE INDEX "inbox_open_service_id" ON "inbox" USING btree ("service_id") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."service_id" is not null;--> statement-breakpoint
CREATE INDEX "inbox_unmatched" ON "inbox" USING btree ("id") WHERE "inbox"."state" = 'unmatched';--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_topic_subject" ON "outbox" USING btree ("topic","subject_kind","subject_id");--> statement-breakpoint
CREATE INDEX "outbox_available" ON "outbox" USING btree ("available_at","id") WHERE "outbox"."quarantined_at" is null;--> statement-breakpoint
CREATE INDEX "outbox_quarantined" ON "outbox" USING btree ("id") WHERE "outbox"."quarantined_at" is not null;--> statement-breakpoint
CREATE INDEX "capability_profiles_newest" ON "capability_profiles" USING btree ("environment","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "encryption_keys_one_makes_hashes" ON "encryption_keys" USING btree ("makes_hashes") WHERE "encryption_keys"."makes_hashes";--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_secrets_one_newest" ON "webhook_secrets" USING btree ("environment") WHERE "webhook_secrets"."verifies_until" is null;--> statement-breakpoint
CREATE INDEX "share_links_page" ON "share_links" USING btree ("esim_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("endpoint_id","event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","next_try_at") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list" ON "webhook_deliveries" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_state" ON "webhook_deliveries" USING btree ("endpoint_id","state","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_ended" ON "webhook_deliveries" USING btree ("ended_at") WHERE "webhook_deliveries"."state" <> 'pending';--> statement-breakpoint
CREATE INDEX "webhook_endpoint_secrets_endpoint" ON "webhook_endpoint_secrets" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_endpoint_secrets_newest" ON "webhook_endpoint_secrets" USING btree ("endpoint_id") WHERE "webhook_endpoint_secrets"."signs_until" is null;--> statement-breakpoint
CREATE INDEX "webhook_endpoints_receiving" ON "webhook_endpoints" USING btree ("id") WHERE "webhook_endpoints"."disabled_at" is null and "webhook_endpoints"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "webhook_endpoints_to_wake" ON "webhook_endpoints" USING btree ("id") WHERE "webhook_endpoints"."wakes_requested" > "webhook_endpoints"."wakes_sent";--> statement-breakpoint
CREATE INDEX "webhook_endpoints_owner" ON "webhook_endpoints" USING btree ("owner_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "cancellations_one_of_esim" ON "cancellations" USING btree ("esim_id") WHERE "cancellations"."status" not in ('refused', 'abandoned');--> statement-breakpoint
CREATE INDEX "cancellations_page" ON "cancellations" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_status_page" ON "cancellations" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_owner_page" ON "cancellations" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_updated" ON "cancellations" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "cancellations_failure_page" ON "cancellations" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "cancellations"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "cancellations_attention_page" ON "cancellations" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "cancellations"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "cancellations_metadata" ON "cancellations" USING gin ("metadata" jsonb_path_ops) WHERE "cancellations"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "cancellations_esim_page" ON "cancellations" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "cancellations_unfinished" ON "cancellations" USING btree ("updated_at") WHERE "cancellations"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "orders_page" ON "orders" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_status_page" ON "orders" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_owner_page" ON "orders" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_package_page" ON "orders" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "orders_customer_page" ON "orders" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "orders_batch" ON "orders" USING btree ("batch_id","batch_position") WHERE "orders"."batch_id" is not null;--> statement-breakpoint
CREATE INDEX "orders_esim" ON "orders" USING btree ("esim_id") WHERE "orders"."esim_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "orders_reference_use" ON "orders" USING btree ("external_order_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_reference_in_use" ON "orders" USING btree ("external_order_id") WHERE "orders"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "orders_replaces" ON "orders" USING btree ("replaces_id") WHERE "orders"."replaces_id" is not null;--> statement-breakpoint
CREATE INDEX "orders_updated" ON "orders" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "orders_failure_page" ON "orders" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "orders_attention_page" ON "orders" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "orders"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "orders_metadata" ON "orders" USING gin ("metadata" jsonb_path_ops) WHERE "orders"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "orders_unfinished" ON "orders" USING btree ("updated_at") WHERE "orders"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "refunds_page" ON "refunds" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refunds_status_page" ON "refunds" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refunds_esim_page" ON "refunds" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refunds_updated" ON "refunds" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "topups_page" ON "topups" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_status_page" ON "topups" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_owner_page" ON "topups" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_package_page" ON "topups" USING btree ("package_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_customer_page" ON "topups" USING btree ("customer_reference_hash","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."customer_reference_hash" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "topups_reference_use" ON "topups" USING btree ("external_topup_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "topups_reference_in_use" ON "topups" USING btree ("external_topup_id") WHERE "topups"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "topups_replaces" ON "topups" USING btree ("replaces_id") WHERE "topups"."replaces_id" is not null;--> statement-breakpoint
CREATE INDEX "topups_updated" ON "topups" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "topups_failure_page" ON "topups" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "topups_attention_page" ON "topups" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "topups"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "topups_metadata" ON "topups" USING gin ("metadata" jsonb_path_ops) WHERE "topups"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "topups_esim_page" ON "topups" USING btree ("esim_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "topups_unfinished" ON "topups" USING btree ("updated_at") WHERE "topups"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_page" ON "vpn_subscriptions" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_status_page" ON "vpn_subscriptions" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_owner_page" ON "vpn_subscriptions" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_expiry" ON "vpn_subscriptions" USING btree ("expires_at","id") WHERE "vpn_subscriptions"."status" = 'active';--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_plan_page" ON "vpn_subscriptions" USING btree ("vpn_plan_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_customer_page" ON "vpn_subscriptions" USING btree ("customer_reference_hash","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_reference_use" ON "vpn_subscriptions" USING btree ("external_subscription_id","reference_use");--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_reference_in_use" ON "vpn_subscriptions" USING btree ("external_subscription_id") WHERE "vpn_subscriptions"."status" not in ('failed', 'abandoned');--> statement-breakpoint
CREATE UNIQUE INDEX "vpn_subscriptions_replaces" ON "vpn_subscriptions" USING btree ("replaces_id") WHERE "vpn_subscriptions"."replaces_id" is not null;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_updated" ON "vpn_subscriptions" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_failure_page" ON "vpn_subscriptions" USING btree ("failure_class","created_at" desc nulls last,"id" desc nulls last) WHERE "vpn_subscriptions"."failure_class" is not null;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_attention_page" ON "vpn_subscriptions" USING btree ("attention_reason","created_at" desc nulls last,"id" desc nulls last) WHERE "vpn_subscriptions"."attention_reason" is not null;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_metadata" ON "vpn_subscriptions" USING gin ("metadata" jsonb_path_ops) WHERE "vpn_subscriptions"."metadata" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "vpn_subscriptions_unfinished" ON "vpn_subscriptions" USING btree ("updated_at") WHERE "vpn_subscriptions"."status" not in ('completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused');--> statement-breakpoint
-- What the TypeScript schema cannot express follows, by subject.

-- Append-only tables.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the journal is append-only: correct it with a further entry'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;
--> statement-breakpoint
CREATE TRIGGER journal_append_only
  BEFORE UPDATE OR DELETE ON "journal"
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER journal_no_truncate
  BEFORE TRUNCATE ON "journal"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'versions of pricing rules are append-only: change the rule'
    USING ERRCODE = 'integrity_constraint_violation';
END
$$;
--> statement-breakpoint
CREATE TRIGGER pricing_rule_versions_append_only
  BEFORE UPDATE OR DELETE ON "pricing_rule_versions"
  FOR EACH ROW EXECUTE FUNCTION refuse_version_change();
--> statement-breakpoint
CREATE TRIGGER pricing_rule_versions_no_truncate
  BEFORE TRUNCATE ON "pricing_rule_versions"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_version_change();
--> statement-breakpoint
-- Totals of the purchase gate, kept by triggers.

-- An attempt that provably costs nothing: it was refused, failed without cost, or is not sent.
CREATE FUNCTION attempt_costs_nothing(state text, settled boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT state IN ('prepared', 'refused') OR (state = 'failed' AND settled)
$$;
--> statement-breakpoint
-- The rule alone, without a look-up, so that a comparison can join the tables as a whole.
CREATE FUNCTION gate_cost(attempt attempts, reservation gate_reservations) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN attempt.id IS NULL OR attempt_costs_nothing(attempt.state, attempt.settled) THEN 0
    WHEN attempt.charged_currency = reservation.currency THEN attempt.charged_amount
    ELSE reservation.amount
  END
$$;
--> statement-breakpoint
-- The amount that a reservation counts for: its charge, once that is known in the same currency.
CREATE FUNCTION gate_counted(reservation gate_reservations) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT gate_cost(attempts, reservation) FROM attempts WHERE attempts.id = reservation.attempt_id),
    0
  )
$$;
--> statement-breakpoint
-- The lock that `lockAccount` takes.
CREATE FUNCTION lock_gate_account() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))
$$;
--> statement-breakpoint
CREATE FUNCTION set_gate_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A concurrent change of the attempt would not see this row, and this row would not see the change. A claim holds
  -- the lock already.
  PERFORM FROM attempts WHERE id = NEW.attempt_id FOR SHARE;
  NEW.counted := gate_counted(NEW);
  RETURN NEW;
END
$$;
--> statement-breakpoint
-- Not for other columns: a reading of the wallet changes many rows, and none of their amounts.
CREATE TRIGGER gate_reservations_counted
  BEFORE INSERT OR UPDATE OF amount, currency, counted ON gate_reservations
  FOR EACH ROW EXECUTE FUNCTION set_gate_counted();
--> statement-breakpoint
-- Adds rows to the totals, and takes others off.
CREATE FUNCTION add_to_gate_totals(added gate_reservations[], removed gate_reservations[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_gate_account();
  WITH change AS (
    SELECT day, currency, api_key_id, is_over, counted FROM unnest(added)
    UNION ALL
    SELECT day, currency, api_key_id, is_over, -counted FROM unnest(removed)
  ), spent AS (
    INSERT INTO gate_spending AS total (day, currency, api_key_id, amount)
    SELECT day, currency, key, sum(counted) FROM change, LATERAL (VALUES (api_key_id), ('')) AS owner(key)
    GROUP BY day, currency, key HAVING sum(counted) <> 0
    ON CONFLICT (day, currency, api_key_id) DO UPDATE SET amount = total.amount + excluded.amount
  )
  INSERT INTO gate_reserved AS total (currency, amount)
  SELECT currency, sum(counted) FROM change WHERE NOT is_over
  GROUP BY currency HAVING sum(counted) <> 0
  ON CONFLICT (currency) DO UPDATE SET amount = total.amount + excluded.amount;
END
$$;
--> statement-breakpoint
CREATE FUNCTION keep_gate_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_to_gate_totals((SELECT array_agg(ROW(made.*)::gate_reservations) FROM made), NULL);
  ELSIF TG_OP = 'UPDATE' THEN
    PERFORM add_to_gate_totals(
      (SELECT array_agg(ROW(made.*)::gate_reservations) FROM made),
      (SELECT array_agg(ROW(gone.*)::gate_reservations) FROM gone)
    );
  ELSE
    PERFORM add_to_gate_totals(NULL, (SELECT array_agg(ROW(gone.*)::gate_reservations) FROM gone));
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER gate_totals_inserted AFTER INSERT ON gate_reservations
  REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
CREATE TRIGGER gate_totals_updated AFTER UPDATE ON gate_reservations
  REFERENCING NEW TABLE AS made OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
CREATE TRIGGER gate_totals_deleted AFTER DELETE ON gate_reservations
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gate_totals();
--> statement-breakpoint
-- Looks before it locks: most attempts cost what was reserved. The row of the attempt is locked, so the answer holds.
CREATE FUNCTION recount_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gate_reservations r WHERE r.attempt_id = NEW.id AND r.counted <> gate_counted(r)) THEN
    PERFORM lock_gate_account();
    UPDATE gate_reservations r SET counted = gate_counted(r) WHERE r.attempt_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- A migration that updates attempts and then alters the table needs SET CONSTRAINTS ALL IMMEDIATE in between.
-- Deferred to the commit, so that the lock of the account is taken last, whatever the transaction does afterwards.
CREATE CONSTRAINT TRIGGER attempts_recounted
  AFTER UPDATE OF state, settled, charged_amount, charged_currency ON attempts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    attempt_costs_nothing(OLD.state, OLD.settled) <> attempt_costs_nothing(NEW.state, NEW.settled)
    OR OLD.charged_amount IS DISTINCT FROM NEW.charged_amount
    OR OLD.charged_currency IS DISTINCT FROM NEW.charged_currency
  )
  EXECUTE FUNCTION recount_attempt();
--> statement-breakpoint
INSERT INTO "schema_support" ("oldest_migrations") VALUES (1);
