ALTER TABLE "attempts" DROP CONSTRAINT "attempts_busy_esim_id_unique";--> statement-breakpoint
DROP INDEX "timeline_subject";--> statement-breakpoint
DROP INDEX "esims_expiry";--> statement-breakpoint
DROP INDEX "gate_waits_oldest";--> statement-breakpoint
DROP INDEX "orders_esim";--> statement-breakpoint
CREATE INDEX "journal_credits" ON "journal" USING btree ("id") WHERE "journal"."direction" = 'credit';--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_busy_esim" ON "attempts" USING btree ("busy_esim_id") WHERE "attempts"."busy_esim_id" is not null;--> statement-breakpoint
CREATE INDEX "esims_expiry" ON "esims" USING btree ("expires_at","id") WHERE "esims"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "gate_waits_oldest" ON "gate_waits" USING btree ("barrier","accepted_at","subject_id");--> statement-breakpoint
CREATE INDEX "orders_esim" ON "orders" USING btree ("esim_id") WHERE "orders"."esim_id" is not null;