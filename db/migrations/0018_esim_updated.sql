ALTER TABLE "esims" ADD COLUMN "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "esims_updated" ON "esims" USING btree ("updated_at");