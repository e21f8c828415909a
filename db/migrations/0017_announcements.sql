CREATE TABLE "announcements" (
	"subject_id" text NOT NULL,
	"key" text NOT NULL,
	"announced_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "announcements_subject_id_key_pk" PRIMARY KEY("subject_id","key")
);
--> statement-breakpoint
INSERT INTO "announcements" ("subject_id", "key", "announced_at") SELECT "subject_id", "dedup_key", "occurred_at" FROM "events" WHERE "dedup_key" IS NOT NULL;--> statement-breakpoint
DROP INDEX "events_once";--> statement-breakpoint
ALTER TABLE "events" DROP COLUMN "dedup_key";