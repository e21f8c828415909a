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
CREATE TABLE "gate_passes" (
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"granted_by" text NOT NULL,
	"granted_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "gate_passes_subject_kind_subject_id_pk" PRIMARY KEY("subject_kind","subject_id")
);
--> statement-breakpoint
CREATE TABLE "gate_pauses" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text,
	"failure_class" text,
	"why" text NOT NULL,
	"paused_by" text NOT NULL,
	"paused_at" timestamp (3) with time zone NOT NULL,
	"released_at" timestamp (3) with time zone,
	"released_by" text,
	"release_why" text
);
--> statement-breakpoint
CREATE TABLE "gate_reservations" (
	"attempt_id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"day" date NOT NULL,
	"amount" numeric(21, 6) NOT NULL,
	"currency" text NOT NULL,
	"made_at" timestamp (3) with time zone NOT NULL,
	"covered_by_reading" integer,
	"is_over" boolean DEFAULT false NOT NULL
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
ALTER TABLE "api_keys" ADD COLUMN "spend_limit_amount" numeric(21, 6);--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "spend_limit_currency" text;--> statement-breakpoint
CREATE UNIQUE INDEX "gate_pauses_one_active" ON "gate_pauses" USING btree (coalesce("kind", ''),coalesce("failure_class", '')) WHERE "gate_pauses"."released_at" is null;--> statement-breakpoint
CREATE INDEX "gate_reservations_open" ON "gate_reservations" USING btree ("currency") WHERE not "gate_reservations"."is_over";--> statement-breakpoint
CREATE INDEX "gate_reservations_day" ON "gate_reservations" USING btree ("day","api_key_id");--> statement-breakpoint
CREATE INDEX "gate_waits_line" ON "gate_waits" USING btree ("barrier","probes","accepted_at");--> statement-breakpoint
CREATE INDEX "gate_waits_oldest" ON "gate_waits" USING btree ("accepted_at");