CREATE TABLE "events" (
	"sequence" bigserial PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"position" bigint,
	"type" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"api_key_id" text,
	"data" jsonb NOT NULL,
	"dedup_key" text,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "events_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("position");--> statement-breakpoint
CREATE INDEX "events_unpublished" ON "events" USING btree ("sequence") WHERE "events"."position" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "events_once" ON "events" USING btree ("subject_kind","subject_id","dedup_key") WHERE "events"."dedup_key" is not null;--> statement-breakpoint
CREATE INDEX "events_subject" ON "events" USING btree ("subject_id","sequence");--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("type","position");--> statement-breakpoint
CREATE INDEX "events_api_key" ON "events" USING btree ("api_key_id","position");