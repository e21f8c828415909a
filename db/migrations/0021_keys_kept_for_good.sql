DROP INDEX "idempotency_keys_created_at";--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "kept_for_good" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "idempotency_keys_forgotten_by" ON "idempotency_keys" USING btree ("created_at") WHERE not "idempotency_keys"."kept_for_good";