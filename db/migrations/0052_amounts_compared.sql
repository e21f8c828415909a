-- Contract of 0046_schema_support: earlier versions write neither the new column nor the new origin of a pause.
ALTER TABLE "gate_pauses" DROP CONSTRAINT "gate_pauses_origin";--> statement-breakpoint
ALTER TABLE "cases" ADD COLUMN "product" integer;--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "pending_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "price_amount" numeric(21, 6);--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "price_currency" text;--> statement-breakpoint
CREATE UNIQUE INDEX "cases_one_open_of_product" ON "cases" USING btree ("subject_kind","product","reason") WHERE "cases"."closed_at" is null and "cases"."product" is not null;--> statement-breakpoint
ALTER TABLE "gate_pauses" ADD CONSTRAINT "gate_pauses_origin" CHECK ("gate_pauses"."origin" in ('operator', 'first_purchase_check', 'amounts'));--> statement-breakpoint
UPDATE "schema_support" SET "oldest_migrations" = 47;
