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
CREATE INDEX "share_links_page" ON "share_links" USING btree ("esim_id","id");