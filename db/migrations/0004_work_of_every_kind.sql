ALTER TABLE "attempts" RENAME COLUMN "service_order_id" TO "service_id";--> statement-breakpoint
ALTER TABLE "inbox" RENAME COLUMN "service_order_id" TO "service_id";--> statement-breakpoint
ALTER TABLE "attempts" DROP CONSTRAINT "attempts_reference_unique";--> statement-breakpoint
ALTER TABLE "attempts" DROP CONSTRAINT "attempts_service_order_id_unique";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_status";--> statement-breakpoint
DROP INDEX "inbox_unmatched_order";--> statement-breakpoint
DROP INDEX "outbox_topic_subject";--> statement-breakpoint
ALTER TABLE "attempts" ALTER COLUMN "reference" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "subject_kind" text NOT NULL DEFAULT 'order';--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "subject_kind" DROP DEFAULT;--> statement-breakpoint
UPDATE "outbox" SET "topic" = replace("topic", '_order', '_work');--> statement-breakpoint
UPDATE "inbox" SET "subject_kind" = 'order' WHERE "subject_kind" IS NULL AND "event" LIKE 'order.%';--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_reference" ON "attempts" USING btree ("subject_kind","reference");--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_service_id" ON "attempts" USING btree ("subject_kind","service_id");--> statement-breakpoint
CREATE INDEX "inbox_unmatched_service_id" ON "inbox" USING btree ("service_id") WHERE "inbox"."state" = 'unmatched';--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_topic_subject" ON "outbox" USING btree ("topic","subject_kind","subject_id");--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_status" CHECK ("orders"."status" in ('accepted', 'held', 'submitting', 'processing', 'needs_attention', 'completed', 'failed', 'abandoned'));