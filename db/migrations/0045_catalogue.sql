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
CREATE UNIQUE INDEX "catalogue_readings_run" ON "catalogue_readings" USING btree ("catalogue","run_id");--> statement-breakpoint
CREATE INDEX "catalogue_readings_newest" ON "catalogue_readings" USING btree ("catalogue","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "packages_countries" ON "packages" USING gin ("countries");--> statement-breakpoint
CREATE INDEX "packages_updated" ON "packages" USING btree ("updated_at");