DROP INDEX "inbox_unmatched";--> statement-breakpoint
DROP INDEX "inbox_unmatched_service_esim_id";--> statement-breakpoint
DROP INDEX "inbox_unmatched_service_id";--> statement-breakpoint
DROP INDEX "inbox_unapplied";--> statement-breakpoint
CREATE INDEX "inbox_open_reference" ON "inbox" USING btree ("reference") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."reference" is not null;--> statement-breakpoint
CREATE INDEX "inbox_open_service_esim_id" ON "inbox" USING btree ("service_esim_id") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."service_esim_id" is not null;--> statement-breakpoint
CREATE INDEX "inbox_open_service_id" ON "inbox" USING btree ("service_id") WHERE state in ('pending', 'relayed', 'quarantined', 'unmatched') and "inbox"."service_id" is not null;--> statement-breakpoint
CREATE INDEX "inbox_unapplied" ON "inbox" USING btree ("subject_id") WHERE "inbox"."state" in ('pending', 'relayed', 'quarantined') and "inbox"."subject_id" is not null;