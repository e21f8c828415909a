CREATE INDEX "esims_page" ON "esims" USING btree ("created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_status_page" ON "esims" USING btree ("status","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "esims_iccid" ON "esims" USING btree ("iccid");