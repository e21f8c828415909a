ALTER TABLE "attempts" RENAME COLUMN "last_asked_at" TO "last_look_up_at";--> statement-breakpoint
ALTER TABLE "attempts" RENAME COLUMN "last_heard_at" TO "last_report_at";--> statement-breakpoint
ALTER TABLE "webhook_endpoints" RENAME COLUMN "wakes_wanted" TO "wakes_requested";--> statement-breakpoint
ALTER TABLE "webhook_endpoints" RENAME COLUMN "wakes_given" TO "wakes_sent";
