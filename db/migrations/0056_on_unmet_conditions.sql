ALTER TABLE "cancellations" ADD COLUMN "on_unmet_conditions" text DEFAULT 'refuse' NOT NULL;--> statement-breakpoint
UPDATE "cancellations" SET "on_unmet_conditions" = 'cancel_without_refund' WHERE "accept_without_refund";
