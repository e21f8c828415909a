ALTER TABLE "attempts" ADD COLUMN "first_unrefused_send_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "attempts" SET "first_unrefused_send_at" = "first_sent_at" WHERE "any_unknown" OR "state" IN ('sending', 'unknown', 'processing', 'completed');
