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
CREATE TABLE "webhook_secrets" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_secrets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"environment" text NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"verifies_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "capability_profiles_newest" ON "capability_profiles" USING btree ("environment","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_secrets_one_newest" ON "webhook_secrets" USING btree ("environment") WHERE "webhook_secrets"."verifies_until" is null;