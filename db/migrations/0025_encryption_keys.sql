CREATE TABLE "encryption_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"check_value" "bytea" NOT NULL,
	"makes_hashes" boolean NOT NULL,
	"first_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "encryption_keys_one_makes_hashes" ON "encryption_keys" USING btree ("makes_hashes") WHERE "encryption_keys"."makes_hashes";