CREATE TABLE "refused_header_prefixes" (
	"verified" boolean PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"deliveries" bigint NOT NULL,
	"last_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
