CREATE TABLE "schema_support" (
	"singleton" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"oldest_migrations" integer NOT NULL,
	CONSTRAINT "schema_support_one_row" CHECK ("schema_support"."singleton")
);--> statement-breakpoint
INSERT INTO "schema_support" ("oldest_migrations") VALUES (47);
