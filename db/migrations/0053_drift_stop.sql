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
CREATE INDEX "gate_drifts_open" ON "gate_drifts" USING btree ("subject_kind") WHERE "gate_drifts"."settled_at" is null;