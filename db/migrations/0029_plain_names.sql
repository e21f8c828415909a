ALTER TABLE "attempts" RENAME COLUMN "sealed_request_body" TO "encrypted_request_body";--> statement-breakpoint
ALTER TABLE "esims" RENAME COLUMN "sealed_activation_code" TO "encrypted_activation_code";--> statement-breakpoint
ALTER TABLE "idempotency_keys" RENAME COLUMN "sealed_response_body" TO "encrypted_response_body";--> statement-breakpoint
ALTER TABLE "inbox" RENAME COLUMN "sealed_body" TO "encrypted_body";--> statement-breakpoint
ALTER TABLE "orders" RENAME COLUMN "sealed_device_imei" TO "encrypted_device_imei";--> statement-breakpoint
ALTER TABLE "service_tokens" RENAME COLUMN "sealed_token" TO "encrypted_token";--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" RENAME COLUMN "sealed_customer_reference" TO "encrypted_customer_reference";--> statement-breakpoint
ALTER TABLE "vpn_subscriptions" RENAME COLUMN "sealed_access" TO "encrypted_access";--> statement-breakpoint
ALTER TABLE "webhook_endpoint_secrets" RENAME COLUMN "sealed_secret" TO "encrypted_secret";--> statement-breakpoint
ALTER TABLE "webhook_secrets" RENAME COLUMN "sealed_secret" TO "encrypted_secret";--> statement-breakpoint
ALTER TABLE "webhook_tries" RENAME COLUMN "sealed_excerpt" TO "encrypted_excerpt";--> statement-breakpoint
ALTER INDEX "gate_waits_line" RENAME TO "gate_waits_queue";--> statement-breakpoint
ALTER TABLE "gate_passes" RENAME CONSTRAINT "gate_passes_subject_kind_subject_id_pk" TO "gate_overrides_subject_kind_subject_id_pk";--> statement-breakpoint
ALTER TABLE "gate_passes" RENAME TO "gate_overrides";
