DROP INDEX "inbox_unapplied";--> statement-breakpoint
DROP INDEX "outbox_available";--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "lasting_errors" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "lasting_errors" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "quarantined_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "inbox_quarantined" ON "inbox" USING btree ("id") WHERE "inbox"."state" = 'quarantined';--> statement-breakpoint
CREATE INDEX "outbox_quarantined" ON "outbox" USING btree ("id") WHERE "outbox"."quarantined_at" is not null;--> statement-breakpoint
CREATE INDEX "inbox_unapplied" ON "inbox" USING btree ("subject_kind","subject_id") WHERE "inbox"."state" in ('pending', 'relayed', 'quarantined');--> statement-breakpoint
CREATE INDEX "outbox_available" ON "outbox" USING btree ("available_at","id") WHERE "outbox"."quarantined_at" is null;