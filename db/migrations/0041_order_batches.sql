CREATE TABLE "order_batches" (
	"id" text PRIMARY KEY NOT NULL,
	"api_key_id" text NOT NULL,
	"external_batch_id" text NOT NULL,
	"items" jsonb NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"size" integer NOT NULL,
	"completed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"abandoned" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_requested_by" text,
	"cancel_reason" text,
	CONSTRAINT "order_batches_external_batch_id_unique" UNIQUE("external_batch_id"),
	CONSTRAINT "order_batches_ended" CHECK ("order_batches"."completed" + "order_batches"."failed" + "order_batches"."abandoned" <= "order_batches"."size")
);
--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "batch_id" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "batch_position" integer;--> statement-breakpoint
CREATE INDEX "order_batches_page" ON "order_batches" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "order_batches_owner_page" ON "order_batches" USING btree ("api_key_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "orders_batch" ON "orders" USING btree ("batch_id","batch_position") WHERE "orders"."batch_id" is not null;