// Generated from /openapi.json by `npm run generate:api`; manual changes are lost.

import type { DescribedCall } from '#cli/resources/described-call.ts';

/** The calls of the API by their name. */
export const DESCRIBED_CALLS: Readonly<Record<string, DescribedCall>> = {
  "listOrders": {
    "summary": "List orders, newest first",
    "path": [],
    "query": [
      {
        "name": "external_order_id",
        "kind": "texts",
        "description": "Only the order with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "batch_id",
        "kind": "text",
        "description": "Only the orders of this batch."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`)."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createOrder": {
    "summary": "Buy an eSIM package",
    "path": [],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait."
      }
    ],
    "body": [
      {
        "name": "package_id",
        "kind": "integer",
        "description": "Id of a package at the service.",
        "required": true
      },
      {
        "name": "external_order_id",
        "kind": "text",
        "description": "Your reference. It gets one order, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.",
        "required": true
      },
      {
        "name": "device_imei",
        "kind": "text",
        "description": "IMEI of the device: 14 to 16 digits. Stored encrypted, sent to the service, never returned."
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Maximum that the service may charge, in the currency of its price. While its price is higher, the order is held. A limit in another currency is refused with 422; if the currency of the price is not known when the order is accepted, it is held until the limit is changed."
      },
      {
        "name": "customer_price",
        "kind": "money",
        "description": "Price that your customer pays, in the currency of the price of the service. It is for the summary of sales and limits nothing: give `max_price` for that."
      },
      {
        "name": "quote_id",
        "kind": "text",
        "description": "The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given."
      },
      {
        "name": "if_unavailable",
        "kind": "text",
        "description": "What happens if the service does not sell it at the moment: the order is refused with 422, or it is held until the service sells it or the deadline passes. One of: refuse, hold."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure)."
      },
      {
        "name": "when_attempts_are_used_up",
        "kind": "text",
        "description": "What follows when every attempt has failed and provably cost nothing: the order fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your reference of the customer. Stored encrypted; in no event and no log."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data, returned unchanged. Not encrypted: do not include personal data."
      }
    ],
    "keyed": true,
    "prefers": true
  },
  "exportOrders": {
    "summary": "Get all orders that match as CSV, newest first",
    "path": [],
    "query": [
      {
        "name": "external_order_id",
        "kind": "texts",
        "description": "Only the order with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "batch_id",
        "kind": "text",
        "description": "Only the orders of this batch."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "actOnManyOrders": {
    "summary": "Perform one action on many orders",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "action",
        "kind": "text",
        "description": "The action; each is described at `POST /v1/orders/{id}/…`. One of: retry, release, abandon, limit, resolve.",
        "required": true
      },
      {
        "name": "filter",
        "kind": "json",
        "description": "Which orders: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Required with `limit`; `null` removes the limit."
      },
      {
        "name": "case",
        "kind": "text",
        "description": "Required with `resolve`: the reason of the open case."
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "Required with `resolve`: the verdict for all of them. One of: bought, not_bought, refunded, dismissed."
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "dry_run",
        "kind": "flag",
        "description": "Only report the result for each. Needs no Idempotency-Key."
      }
    ],
    "keyed": true
  },
  "getOrder": {
    "summary": "Read an order",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`)."
      },
      {
        "name": "wait",
        "kind": "integer",
        "description": "Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default)."
      },
      {
        "name": "until",
        "kind": "texts",
        "description": "With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. One of: accepted, held, processing, needs_attention, completed, failed, abandoned."
      }
    ]
  },
  "getOrderTimeline": {
    "summary": "Read the timeline and the current state of an order",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "retryOrder": {
    "summary": "Retry now work that is held or needs attention",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "releaseOrder": {
    "summary": "Release held work through the purchase gate now",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "changeOrderLimit": {
    "summary": "Change the maximum that the service may charge",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "`null` removes the limit.",
        "required": true
      }
    ]
  },
  "changeOrderRetryPolicy": {
    "summary": "Change the retry policy: attempts, waits and deadline",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "attempts",
        "kind": "integer",
        "description": "Total attempts, including those made. With a lower number than those made, no other one follows."
      },
      {
        "name": "first_wait_seconds",
        "kind": "integer",
        "description": "First wait; doubled each time."
      },
      {
        "name": "longest_wait_seconds",
        "kind": "integer",
        "description": "Longest wait."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead."
      }
    ]
  },
  "abandonOrder": {
    "summary": "Abandon an order that bought nothing",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "resolveOrderCase": {
    "summary": "Resolve a case of an order",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "case",
        "kind": "text",
        "description": "The reason of the open case, as `operations.attention.reason` shows it.",
        "required": true
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "`bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.",
        "required": true
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "service_order_id",
        "kind": "text",
        "description": "With `bought`: the order at the service, if it is not known yet."
      },
      {
        "name": "service_esim_id",
        "kind": "text",
        "description": "With `bought`: the eSIM at the service. Without it the eSIM is looked up."
      }
    ]
  },
  "listTopups": {
    "summary": "List top-ups, newest first",
    "path": [],
    "query": [
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "external_topup_id",
        "kind": "texts",
        "description": "Only the top-up with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`)."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createTopup": {
    "summary": "Recharge an eSIM",
    "path": [],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait."
      }
    ],
    "body": [
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM.",
        "required": true
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": "One of the eSIM's top-up options.",
        "required": true
      },
      {
        "name": "external_topup_id",
        "kind": "text",
        "description": "Your reference. It gets one top-up, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key."
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Maximum that the service may charge, in the currency of its price. While its price is higher, the top-up is held. A limit in another currency is refused with 422; if the currency of the price is not known when the top-up is accepted, it is held until the limit is changed."
      },
      {
        "name": "customer_price",
        "kind": "money",
        "description": "Price that your customer pays, in the currency of the price of the service. It is for the summary of sales and limits nothing: give `max_price` for that."
      },
      {
        "name": "quote_id",
        "kind": "text",
        "description": "The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given."
      },
      {
        "name": "if_unavailable",
        "kind": "text",
        "description": "What happens if the service does not sell it at the moment: the top-up is refused with 422, or it is held until the service sells it or the deadline passes. One of: refuse, hold."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure)."
      },
      {
        "name": "when_attempts_are_used_up",
        "kind": "text",
        "description": "What follows when every attempt has failed and provably cost nothing: the top-up fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your reference of the customer. Without it, that of the eSIM. Stored encrypted."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data, returned unchanged. Not encrypted: do not include personal data."
      }
    ],
    "keyed": true,
    "prefers": true
  },
  "exportTopups": {
    "summary": "Get all top-ups that match as CSV, newest first",
    "path": [],
    "query": [
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "external_topup_id",
        "kind": "texts",
        "description": "Only the top-up with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "actOnManyTopups": {
    "summary": "Perform one action on many top-ups",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "action",
        "kind": "text",
        "description": "The action; each is described at `POST /v1/topups/{id}/…`. One of: retry, release, abandon, limit, resolve.",
        "required": true
      },
      {
        "name": "filter",
        "kind": "json",
        "description": "Which top-ups: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Required with `limit`; `null` removes the limit."
      },
      {
        "name": "case",
        "kind": "text",
        "description": "Required with `resolve`: the reason of the open case."
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "Required with `resolve`: the verdict for all of them. One of: bought, not_bought, refunded, dismissed."
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "dry_run",
        "kind": "flag",
        "description": "Only report the result for each. Needs no Idempotency-Key."
      }
    ],
    "keyed": true
  },
  "getTopup": {
    "summary": "Read a top-up",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`)."
      },
      {
        "name": "wait",
        "kind": "integer",
        "description": "Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default)."
      },
      {
        "name": "until",
        "kind": "texts",
        "description": "With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. One of: accepted, held, processing, needs_attention, completed, failed, abandoned."
      }
    ]
  },
  "getTopupTimeline": {
    "summary": "Read the timeline and the current state of a top-up",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "retryTopup": {
    "summary": "Retry now work that is held or needs attention",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "releaseTopup": {
    "summary": "Release held work through the purchase gate now",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "changeTopupLimit": {
    "summary": "Change the maximum that the service may charge",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "`null` removes the limit.",
        "required": true
      }
    ]
  },
  "changeTopupRetryPolicy": {
    "summary": "Change the retry policy: attempts, waits and deadline",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "attempts",
        "kind": "integer",
        "description": "Total attempts, including those made. With a lower number than those made, no other one follows."
      },
      {
        "name": "first_wait_seconds",
        "kind": "integer",
        "description": "First wait; doubled each time."
      },
      {
        "name": "longest_wait_seconds",
        "kind": "integer",
        "description": "Longest wait."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead."
      }
    ]
  },
  "abandonTopup": {
    "summary": "Abandon a top-up that bought nothing",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "resolveTopupCase": {
    "summary": "Resolve a case of a top-up",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "case",
        "kind": "text",
        "description": "The reason of the open case, as `operations.attention.reason` shows it.",
        "required": true
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "`bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.",
        "required": true
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "service_topup_id",
        "kind": "text",
        "description": "With `bought`: the top-up at the service, if it is not known yet."
      }
    ]
  },
  "listVpnSubscriptions": {
    "summary": "List VPN subscriptions, newest first",
    "path": [],
    "query": [
      {
        "name": "external_subscription_id",
        "kind": "texts",
        "description": "Only the VPN subscription with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "vpn_plan_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`)."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, active, cancelling, cancelled, expired, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createVpnSubscription": {
    "summary": "Order a VPN subscription",
    "path": [],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait."
      }
    ],
    "body": [
      {
        "name": "vpn_plan_id",
        "kind": "integer",
        "description": "Id of a VPN plan at the service.",
        "required": true
      },
      {
        "name": "external_subscription_id",
        "kind": "text",
        "description": "Your reference. It gets one VPN subscription, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Maximum that the service may charge, in the currency of its price. While its price is higher, the VPN subscription is held. A limit in another currency is refused with 422; if the currency of the price is not known when the VPN subscription is accepted, it is held until the limit is changed."
      },
      {
        "name": "customer_price",
        "kind": "money",
        "description": "Price that the customer pays, in the currency of the plan. While the service charges more, the order is held.",
        "required": true
      },
      {
        "name": "quote_id",
        "kind": "text",
        "description": "The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given."
      },
      {
        "name": "if_unavailable",
        "kind": "text",
        "description": "What happens if the service does not sell it at the moment: the VPN subscription is refused with 422, or it is held until the service sells it or the deadline passes. One of: refuse, hold."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure)."
      },
      {
        "name": "when_attempts_are_used_up",
        "kind": "text",
        "description": "What follows when every attempt has failed and provably cost nothing: the VPN subscription fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your reference of the customer. Stored encrypted, and sent to the service.",
        "required": true
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data, returned unchanged. Not encrypted: do not include personal data."
      }
    ],
    "keyed": true,
    "prefers": true
  },
  "exportVpnSubscriptions": {
    "summary": "Get all VPN subscriptions that match as CSV, newest first",
    "path": [],
    "query": [
      {
        "name": "external_subscription_id",
        "kind": "texts",
        "description": "Only the VPN subscription with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "vpn_plan_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, active, cancelling, cancelled, expired, failed, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "actOnManyVpnSubscriptions": {
    "summary": "Perform one action on many VPN subscriptions",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "action",
        "kind": "text",
        "description": "The action; each is described at `POST /v1/vpn/subscriptions/{id}/…`. One of: retry, release, abandon, limit, resolve.",
        "required": true
      },
      {
        "name": "filter",
        "kind": "json",
        "description": "Which VPN subscriptions: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Required with `limit`; `null` removes the limit."
      },
      {
        "name": "case",
        "kind": "text",
        "description": "Required with `resolve`: the reason of the open case."
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "Required with `resolve`: the verdict for all of them. One of: bought, not_bought, refunded, dismissed."
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "dry_run",
        "kind": "flag",
        "description": "Only report the result for each. Needs no Idempotency-Key."
      }
    ],
    "keyed": true
  },
  "getVpnSubscription": {
    "summary": "Read a VPN subscription",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`)."
      },
      {
        "name": "wait",
        "kind": "integer",
        "description": "Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default)."
      },
      {
        "name": "until",
        "kind": "texts",
        "description": "With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. One of: accepted, held, processing, needs_attention, active, cancelling, cancelled, expired, failed, abandoned."
      }
    ]
  },
  "getVpnSubscriptionTimeline": {
    "summary": "Read the timeline and the current state of a VPN subscription",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getVpnAccess": {
    "summary": "Get the access data for the customer's device",
    "path": [
      "id"
    ],
    "query": []
  },
  "cancelVpnSubscription": {
    "summary": "End a VPN subscription for its customer",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data."
      }
    ],
    "prefers": true
  },
  "retryVpnSubscription": {
    "summary": "Retry now work that is held or needs attention",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "releaseVpnSubscription": {
    "summary": "Release held work through the purchase gate now",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "changeVpnSubscriptionLimit": {
    "summary": "Change the maximum that the service may charge",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "`null` removes the limit.",
        "required": true
      }
    ]
  },
  "changeVpnSubscriptionRetryPolicy": {
    "summary": "Change the retry policy: attempts, waits and deadline",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "attempts",
        "kind": "integer",
        "description": "Total attempts, including those made. With a lower number than those made, no other one follows."
      },
      {
        "name": "first_wait_seconds",
        "kind": "integer",
        "description": "First wait; doubled each time."
      },
      {
        "name": "longest_wait_seconds",
        "kind": "integer",
        "description": "Longest wait."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead."
      }
    ]
  },
  "abandonVpnSubscription": {
    "summary": "Abandon a VPN subscription that bought nothing",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "resolveVpnSubscriptionCase": {
    "summary": "Resolve a case of a VPN subscription",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "case",
        "kind": "text",
        "description": "The reason of the open case, as `operations.attention.reason` shows it.",
        "required": true
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "`bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.",
        "required": true
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "service_subscription_id",
        "kind": "text",
        "description": "With `bought`: the subscription at the service, if it is not known yet."
      }
    ]
  },
  "cancelEsim": {
    "summary": "Cancel an eSIM",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait."
      }
    ],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "Your reason. Not encrypted: do not include personal data."
      },
      {
        "name": "on_unmet_conditions",
        "kind": "text",
        "description": "What you want if a condition of the automatic refund is not met, or is not known. `refuse`: nothing is sent, and the cancellation is refused. `ask_for_review`: it is sent, and the service decides; if it cancels the eSIM without a refund, the cancellation needs attention. `cancel_without_refund`: it is sent, and is completed also if no refund comes. With the last two the service can still refuse."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Work that is still held or not sent yet then is refused without having been sent. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure)."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data, returned unchanged. Not encrypted: do not include personal data."
      }
    ],
    "keyed": true,
    "prefers": true
  },
  "listCancellations": {
    "summary": "List cancellations, newest first",
    "path": [],
    "query": [
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`)."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, refused, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "exportCancellations": {
    "summary": "Get all cancellations that match as CSV, newest first",
    "path": [],
    "query": [
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: accepted, held, submitting, processing, needs_attention, completed, refused, abandoned."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Why it is held, or why it failed."
      },
      {
        "name": "attention",
        "kind": "text",
        "description": "Why it needs attention."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Only those with all of these pairs in their metadata, each written as `metadata[key]=value`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "actOnManyCancellations": {
    "summary": "Perform one action on many cancellations",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "action",
        "kind": "text",
        "description": "The action; each is described at `POST /v1/cancellations/{id}/…`. One of: retry, abandon, resolve.",
        "required": true
      },
      {
        "name": "filter",
        "kind": "json",
        "description": "Which cancellations: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "Required with `limit`; `null` removes the limit."
      },
      {
        "name": "case",
        "kind": "text",
        "description": "Required with `resolve`: the reason of the open case."
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "Required with `resolve`: the verdict for all of them. One of: bought, not_bought, refunded, dismissed."
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "dry_run",
        "kind": "flag",
        "description": "Only report the result for each. Needs no Idempotency-Key."
      }
    ],
    "keyed": true
  },
  "getCancellation": {
    "summary": "Read a cancellation",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "expand",
        "kind": "texts",
        "description": "What the answer contains in addition: one value or several, separated by commas. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`)."
      },
      {
        "name": "wait",
        "kind": "integer",
        "description": "Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default)."
      },
      {
        "name": "until",
        "kind": "texts",
        "description": "With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. One of: accepted, held, processing, needs_attention, completed, refused, abandoned."
      }
    ]
  },
  "getCancellationTimeline": {
    "summary": "Read the timeline and the current state of a cancellation",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "retryCancellation": {
    "summary": "Retry now work that is held or needs attention",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "changeCancellationRetryPolicy": {
    "summary": "Change the retry policy: attempts, waits and deadline",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "attempts",
        "kind": "integer",
        "description": "Total attempts, including those made. With a lower number than those made, no other one follows."
      },
      {
        "name": "first_wait_seconds",
        "kind": "integer",
        "description": "First wait; doubled each time."
      },
      {
        "name": "longest_wait_seconds",
        "kind": "integer",
        "description": "Longest wait."
      },
      {
        "name": "deadline",
        "kind": "time",
        "description": "Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead."
      }
    ]
  },
  "abandonCancellation": {
    "summary": "Abandon a cancellation that bought nothing",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "resolveCancellationCase": {
    "summary": "Resolve a case of a cancellation",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      },
      {
        "name": "case",
        "kind": "text",
        "description": "The reason of the open case, as `operations.attention.reason` shows it.",
        "required": true
      },
      {
        "name": "verdict",
        "kind": "text",
        "description": "`bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.",
        "required": true
      },
      {
        "name": "next",
        "kind": "text",
        "description": "With `not_bought`: buy again (default), or abandon it. One of: continue, abandon."
      },
      {
        "name": "service_refund_id",
        "kind": "text",
        "description": "With `bought` (it is cancelled): its refund at the service, if it is not known yet."
      }
    ]
  },
  "listOrderBatches": {
    "summary": "List batches of orders, newest first",
    "path": [],
    "query": [
      {
        "name": "external_batch_id",
        "kind": "text",
        "description": "Your reference of the batch, permanently unique. Its orders have references that follow from it: `campaign-2030-0001`, `campaign-2030-0002`, …"
      },
      {
        "name": "status",
        "kind": "texts",
        "description": "One of: in_progress, completed."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createOrderBatch": {
    "summary": "Buy up to 1,000 eSIMs in one call",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "external_batch_id",
        "kind": "text",
        "description": "Your reference of the batch, permanently unique. Its orders have references that follow from it: `campaign-2030-0001`, `campaign-2030-0002`, …",
        "required": true
      },
      {
        "name": "items",
        "kind": "json",
        "description": "At most 1000 eSIMs in all. Limit, deadline, customer and metadata are of each order.",
        "required": true
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data of the batch, returned unchanged."
      }
    ],
    "keyed": true
  },
  "getOrderBatch": {
    "summary": "Read a batch with the counts of its orders",
    "path": [
      "id"
    ],
    "query": []
  },
  "cancelOrderBatch": {
    "summary": "Cancel what a batch has not bought",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "getOrderBatchQrArchive": {
    "summary": "Get the QR codes of a batch as a ZIP archive of PNG images",
    "path": [
      "id"
    ],
    "query": []
  },
  "getOrderBatchQrSheet": {
    "summary": "Get the QR codes of a batch as sheets to print, PDF",
    "path": [
      "id"
    ],
    "query": []
  },
  "listRefunds": {
    "summary": "List refunds, newest first",
    "path": [],
    "query": [
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: expected, manual_review, completed, failed, needs_attention."
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Id of an eSIM."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getRefund": {
    "summary": "Read a refund",
    "path": [
      "id"
    ],
    "query": []
  },
  "listEvents": {
    "summary": "Read events, oldest first",
    "path": [],
    "query": [
      {
        "name": "type",
        "kind": "texts",
        "description": "Types of events, separated by commas; `order.*` selects all events of orders."
      },
      {
        "name": "subject_kind",
        "kind": "texts",
        "description": "Kinds of subjects, separated by commas. One of: order, topup, vpn_subscription, cancellation, order_batch, refund, esim, package, vpn_plan, wallet, webhook_endpoint."
      },
      {
        "name": "subject_id",
        "kind": "text",
        "description": "Id of one subject, such as `ord_…`."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Without a cursor: starts with the first event later than this. Default: the oldest stored event."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page, or the `id` field of the stream (not the id of the event itself). Valid while the events after it are stored."
      },
      {
        "name": "wait",
        "kind": "integer",
        "description": "Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default)."
      }
    ]
  },
  "streamEvents": {
    "summary": "Follow events as they happen (server-sent events)",
    "path": [],
    "query": [
      {
        "name": "type",
        "kind": "texts",
        "description": "Types of events, separated by commas; `order.*` selects all events of orders."
      },
      {
        "name": "subject_kind",
        "kind": "texts",
        "description": "Kinds of subjects, separated by commas. One of: order, topup, vpn_subscription, cancellation, order_batch, refund, esim, package, vpn_plan, wallet, webhook_endpoint."
      },
      {
        "name": "subject_id",
        "kind": "text",
        "description": "Id of one subject, such as `ord_…`."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page, or the `id` field of the stream (not the id of the event itself). Valid while the events after it are stored."
      }
    ]
  },
  "getEvent": {
    "summary": "Read an event",
    "path": [
      "id"
    ],
    "query": []
  },
  "listCases": {
    "summary": "List open cases, oldest first",
    "path": [],
    "query": [
      {
        "name": "reason",
        "kind": "text",
        "description": ""
      },
      {
        "name": "work_ended",
        "kind": "flag",
        "description": "`true`: only cases about ended work, which the Temporal UI does not show; `false`: only all others."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getCase": {
    "summary": "Read a case, open or closed",
    "path": [
      "id"
    ],
    "query": []
  },
  "dismissCase": {
    "summary": "Dismiss a case about a webhook delivery",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "listDeadLetters": {
    "summary": "List dead letters of a queue, oldest first",
    "path": [],
    "query": [
      {
        "name": "queue",
        "kind": "text",
        "description": "`inbox`: a report of the service. `outbox`: a request to start or wake the workflow of a piece of work."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "requeueDeadLetter": {
    "summary": "Requeue a dead letter",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "dismissDeadLetter": {
    "summary": "Dismiss a dead letter",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "getPurchaseGate": {
    "summary": "Read why purchases are held, and what is reserved and spent",
    "path": [],
    "query": []
  },
  "listPauses": {
    "summary": "List pauses of buying, newest first",
    "path": [],
    "query": [
      {
        "name": "kind",
        "kind": "text",
        "description": "Only pauses of exactly this kind of work. One of: order, topup, vpn_subscription, cancellation."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "Only pauses after exactly this failure class."
      },
      {
        "name": "ended",
        "kind": "flag",
        "description": "`true`: also ended pauses."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "pauseBuying": {
    "summary": "Pause buying: all of it, of one kind, or after one failure class",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "kind",
        "kind": "text",
        "description": "Kind of work: `order` (order), `topup` (top-up), `vpn_subscription` (VPN subscription), `cancellation` (cancellation)."
      },
      {
        "name": "failure_class",
        "kind": "text",
        "description": "`invalid_request`: The service refused the request as malformed or not allowed. `topup_not_offered`: The service does not offer this package as a top-up of the eSIM. `cancellation_refused`: The service refuses the cancellation. `refund_not_expected`: A condition of the automatic refund is not met, so nothing was sent. `refund_uncertain`: The service does not show whether the conditions of the refund are met, so nothing was sent. `deadline_passed`: The deadline passed before it was sent; nothing was bought. `key_or_reference_used`: The service reports that this key or reference is already used. `supplier_failed`: The service accepted the purchase and then reported it as failed. `timeout`: The service did not answer in time; it may have carried out the request. `connection_lost`: The connection broke after the request was sent; the service may have carried out the request. `server_error`: The service answered with a server error; it may have carried out the request. `unreadable_answer`: The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status). `contract_drift`: The answer of the service lacks a required field; its interface may have changed. `worker_lost`: The process that sent the request died before it recorded the answer; the service may have carried out the request. `package_unavailable`: The service does not sell this package or VPN plan at the moment. `price_above_limit`: The price charged to the reseller is above the max_price that the caller set. `margin_too_low`: The service charges the reseller more than the customer pays. `esim_busy`: Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way. `insufficient_balance`: The wallet at the service does not cover the price. `not_approved`: The service answers 403, as it does until it has approved this reseller for production. `unauthorized`: The service refuses our token even after a fresh login, or refuses the login. `rate_limited`: The service limits the rate of our requests. `not_sent`: No connection to the service could be opened, so nothing was sent. `service_down`: The service did not answer earlier requests, so nothing was sent. `spend_limit_reached`: The price is more than what is left of a daily spending limit. `purchases_paused`: Buying is paused: by an operator, or by the product, until the shapes of the answers have been seen or because paid deliveries could not be used."
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ],
    "keyed": true
  },
  "getPause": {
    "summary": "Read a pause of buying",
    "path": [
      "id"
    ],
    "query": []
  },
  "endPause": {
    "summary": "End a pause; held work continues at a limited rate, oldest first",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "startAfterDrift": {
    "summary": "Let one purchase of a stopped kind go",
    "path": [
      "kind"
    ],
    "query": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "getOwnKey": {
    "summary": "Read the scopes and limits of your API key",
    "path": [],
    "query": []
  },
  "listEsims": {
    "summary": "List eSIMs, newest first",
    "path": [],
    "query": [
      {
        "name": "id",
        "kind": "texts",
        "description": "Only those with this id. Up to 100, separated by commas."
      },
      {
        "name": "status",
        "kind": "text",
        "description": "Status at the service, such as `installed`, or several, separated by commas."
      },
      {
        "name": "order_id",
        "kind": "text",
        "description": "Id of an order."
      },
      {
        "name": "external_order_id",
        "kind": "texts",
        "description": "Only the order with your reference; ask for one with a comma alone. Up to 100, separated by commas."
      },
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log."
      },
      {
        "name": "iccid",
        "kind": "text",
        "description": "Serial number of the SIM profile."
      },
      {
        "name": "package_id",
        "kind": "integer",
        "description": ""
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Its status or one of its times changed later than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getEsimUsage": {
    "summary": "Read the data usage of an eSIM",
    "path": [
      "id"
    ],
    "query": []
  },
  "getEsim": {
    "summary": "Read an eSIM and its installation facts",
    "path": [
      "id"
    ],
    "query": []
  },
  "updateEsim": {
    "summary": "Change the customer reference of an eSIM",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "customer_reference",
        "kind": "text",
        "description": "Your reference of the customer; `null` removes it. Stored encrypted.",
        "required": true
      }
    ]
  },
  "simulateEsim": {
    "summary": "Simulate that a phone installs, activates or uses up an eSIM, in the sandbox",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "state",
        "kind": "text",
        "description": "What the phone does; states never go back. One of: installed, active, consumed.",
        "required": true
      }
    ]
  },
  "listTopupOptions": {
    "summary": "List the top-up options of an eSIM",
    "path": [
      "id"
    ],
    "query": []
  },
  "getEsimActivation": {
    "summary": "Read the activation data of an eSIM",
    "path": [
      "id"
    ],
    "query": []
  },
  "getEsimQrSvg": {
    "summary": "Get the activation code as a QR code, SVG",
    "path": [
      "id"
    ],
    "query": []
  },
  "getEsimQrPng": {
    "summary": "Get the activation code as a QR code, PNG",
    "path": [
      "id"
    ],
    "query": []
  },
  "listShareLinks": {
    "summary": "List the share links of an eSIM, newest first",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createShareLink": {
    "summary": "Make a link with which your customer installs an eSIM",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "expires_in_seconds",
        "kind": "integer",
        "description": "How long the link can be opened. Default: 7 days."
      },
      {
        "name": "expires_at",
        "kind": "time",
        "description": "The same as a time, 5 minutes to 90 days after now. Only one of the two may be given."
      },
      {
        "name": "language",
        "kind": "text",
        "description": "Language of the page when the customer chooses none. Default: the language of the browser. One of: en, de, fr, es, pt, it, ar, zh."
      },
      {
        "name": "label",
        "kind": "text",
        "description": "A heading for the customer, shown on the page. Not encrypted: do not include personal data."
      },
      {
        "name": "metadata",
        "kind": "map",
        "description": "Your own data, returned unchanged. Not encrypted: do not include personal data."
      }
    ],
    "keyed": true
  },
  "listAllShareLinks": {
    "summary": "List the share links of all eSIMs, newest first",
    "path": [],
    "query": [
      {
        "name": "status",
        "kind": "text",
        "description": "`active`: It can be opened. `expired`: Its time is over. `revoked`: It was revoked."
      },
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getShareLink": {
    "summary": "Read a share link and how often it was viewed",
    "path": [
      "id"
    ],
    "query": []
  },
  "revokeShareLink": {
    "summary": "Revoke a share link: its page is gone at once",
    "path": [
      "id"
    ],
    "query": []
  },
  "getCancellationPreflight": {
    "summary": "Forecast whether the cancellation of an eSIM would be refunded",
    "path": [
      "id"
    ],
    "query": []
  },
  "listPackages": {
    "summary": "List packages with their prices and your suggested prices",
    "path": [],
    "query": [
      {
        "name": "q",
        "kind": "text",
        "description": "Only packages whose name contains this text, in upper or lower case."
      },
      {
        "name": "available",
        "kind": "flag",
        "description": "`true`: only packages that the service sells now; `false`: only others."
      },
      {
        "name": "min_days",
        "kind": "integer",
        "description": "Only packages for at least these days."
      },
      {
        "name": "max_days",
        "kind": "integer",
        "description": "Only packages for at most these days."
      },
      {
        "name": "currency",
        "kind": "text",
        "description": "Only packages whose price is in this currency (ISO 4217)."
      },
      {
        "name": "min_price",
        "kind": "text",
        "description": "Only packages whose `price_for_reseller` is at least this amount, in their own currency."
      },
      {
        "name": "max_price",
        "kind": "text",
        "description": "Only packages whose `price_for_reseller` is at most this amount, in their own currency."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Only packages that changed after this time, exclusive. With the `read_at` of the first page of an earlier list: all changes since."
      },
      {
        "name": "include_removed",
        "kind": "flag",
        "description": "`true`: also packages that the service no longer lists."
      },
      {
        "name": "country",
        "kind": "texts",
        "description": "Only packages that are valid in each of these countries (ISO 3166-1 alpha-2)."
      },
      {
        "name": "region",
        "kind": "text",
        "description": "Only packages that are valid in at least one country of this region: `africa`, `asia`, `europe`, `north_america`, `oceania`, `south_america`."
      },
      {
        "name": "unlimited",
        "kind": "flag",
        "description": "`true`: only packages without a data limit; `false`: only packages with one."
      },
      {
        "name": "min_data_mb",
        "kind": "integer",
        "description": "Only packages with at least these megabytes, or without a data limit."
      },
      {
        "name": "max_data_mb",
        "kind": "integer",
        "description": "Only packages with at most these megabytes."
      },
      {
        "name": "sort",
        "kind": "text",
        "description": "The order; `-` reverses it. Prices are ordered by currency first. Packages without a known value are last, and an unlimited package has the most data. One of: id, price, -price, data, -data, days, -days."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getPackage": {
    "summary": "Read a package with its price and your suggested price",
    "path": [
      "id"
    ],
    "query": []
  },
  "listVpnPlans": {
    "summary": "List VPN plans with their prices and your suggested prices",
    "path": [],
    "query": [
      {
        "name": "q",
        "kind": "text",
        "description": "Only plans whose name contains this text, in upper or lower case."
      },
      {
        "name": "available",
        "kind": "flag",
        "description": "`true`: only plans that the service sells now; `false`: only others."
      },
      {
        "name": "min_days",
        "kind": "integer",
        "description": "Only plans for at least these days."
      },
      {
        "name": "max_days",
        "kind": "integer",
        "description": "Only plans for at most these days."
      },
      {
        "name": "currency",
        "kind": "text",
        "description": "Only plans whose price is in this currency (ISO 4217)."
      },
      {
        "name": "min_price",
        "kind": "text",
        "description": "Only plans whose `price_for_reseller` is at least this amount, in their own currency."
      },
      {
        "name": "max_price",
        "kind": "text",
        "description": "Only plans whose `price_for_reseller` is at most this amount, in their own currency."
      },
      {
        "name": "updated_after",
        "kind": "time",
        "description": "Only plans that changed after this time, exclusive. With the `read_at` of the first page of an earlier list: all changes since."
      },
      {
        "name": "include_removed",
        "kind": "flag",
        "description": "`true`: also plans that the service no longer lists."
      },
      {
        "name": "sort",
        "kind": "text",
        "description": "The order; `-` reverses it. Prices are ordered by currency first. Plans without a known value are last. One of: id, price, -price, days, -days."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getVpnPlan": {
    "summary": "Read a VPN plan with its price and your suggested price",
    "path": [
      "id"
    ],
    "query": []
  },
  "createQuote": {
    "summary": "Ask what an order, top-up or VPN subscription would cost now",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "package_id",
        "kind": "integer",
        "description": "The package of an order or a top-up."
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "With `package_id`: the eSIM of a top-up."
      },
      {
        "name": "vpn_plan_id",
        "kind": "integer",
        "description": "The plan of a VPN subscription."
      },
      {
        "name": "max_price",
        "kind": "money",
        "description": "The limit that the purchase would have."
      }
    ]
  },
  "listPricingRules": {
    "summary": "List pricing rules, newest first",
    "path": [],
    "query": [
      {
        "name": "target",
        "kind": "text",
        "description": "Only rules for this kind of target. One of: default, country, package, vpn_plan."
      },
      {
        "name": "currency",
        "kind": "text",
        "description": "ISO 4217 code."
      },
      {
        "name": "ended",
        "kind": "flag",
        "description": "`true`: also ended rules."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createPricingRule": {
    "summary": "Create a pricing rule",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "target",
        "kind": "map",
        "description": "The target of a rule. The most specific rule applies: that of the package or plan, else of a country of the package, else the default.",
        "required": true
      },
      {
        "name": "currency",
        "kind": "text",
        "description": "ISO 4217 code.",
        "required": true
      },
      {
        "name": "terms",
        "kind": "json",
        "description": "",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown with the versions of the rule.",
        "required": true
      }
    ],
    "keyed": true
  },
  "tryPricing": {
    "summary": "Try other rules or another price list",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "package_ids",
        "kind": "texts",
        "description": "Only these packages. Without this and `vpn_plan_ids`: everything."
      },
      {
        "name": "vpn_plan_ids",
        "kind": "texts",
        "description": "Only these."
      },
      {
        "name": "rules",
        "kind": "json",
        "description": "Rules to try; they are not stored."
      },
      {
        "name": "rules_replace",
        "kind": "text",
        "description": "`same`: each replaces the active rule for the same target and currency, if there is one. `all`: only these rules apply."
      },
      {
        "name": "price_list",
        "kind": "json",
        "description": "Prices of the service to try. Other items keep their current price."
      },
      {
        "name": "selling_prices",
        "kind": "json",
        "description": "Your current selling prices, if they differ from the suggestions."
      }
    ]
  },
  "getPricingRule": {
    "summary": "Read a pricing rule",
    "path": [
      "id"
    ],
    "query": []
  },
  "changePricingRule": {
    "summary": "Change the terms of a pricing rule",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "terms",
        "kind": "json",
        "description": "",
        "required": true
      },
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown with the versions of the rule.",
        "required": true
      },
      {
        "name": "version",
        "kind": "integer",
        "description": "The version that you have read. If the rule has another version now, nothing is changed (409)."
      }
    ]
  },
  "endPricingRule": {
    "summary": "End a pricing rule",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown with the versions of the rule.",
        "required": true
      },
      {
        "name": "version",
        "kind": "integer",
        "description": "The version that you have read. If the rule has another version now, nothing is changed (409)."
      }
    ]
  },
  "listPricingRuleVersions": {
    "summary": "List the versions of a pricing rule, newest first, with author and reason",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getWallet": {
    "summary": "Read the balance at the service",
    "path": [],
    "query": []
  },
  "getWalletRunway": {
    "summary": "Read how long the wallet lasts",
    "path": [],
    "query": []
  },
  "listWalletTransactions": {
    "summary": "List movements of the wallet with their causes, newest first",
    "path": [],
    "query": [
      {
        "name": "cause",
        "kind": "text",
        "description": "Only movements with this kind of cause; `none`: movements without a cause in our journal. One of: attempt, subscription_period, refund, deposit, adjustment, none."
      },
      {
        "name": "direction",
        "kind": "text",
        "description": "`debit`: money left the wallet at the service; `credit`: money came in."
      },
      {
        "name": "order_id",
        "kind": "text",
        "description": "Only debits and credits of this order."
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Only debits and credits of this eSIM and its top-ups."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Only recorded later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Only recorded earlier than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "exportWalletTransactions": {
    "summary": "Get all movements of the wallet that match as CSV, newest first",
    "path": [],
    "query": [
      {
        "name": "cause",
        "kind": "text",
        "description": "Only movements with this kind of cause; `none`: movements without a cause in our journal. One of: attempt, subscription_period, refund, deposit, adjustment, none."
      },
      {
        "name": "direction",
        "kind": "text",
        "description": "`debit`: money left the wallet at the service; `credit`: money came in."
      },
      {
        "name": "order_id",
        "kind": "text",
        "description": "Only debits and credits of this order."
      },
      {
        "name": "esim_id",
        "kind": "text",
        "description": "Only debits and credits of this eSIM and its top-ups."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Only recorded later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Only recorded earlier than this."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "explainWalletTransaction": {
    "summary": "Explain a movement without a cause",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "reason",
        "kind": "text",
        "description": "The reason; shown in the timeline. Do not include personal data.",
        "required": true
      }
    ]
  },
  "getSales": {
    "summary": "Sum up sales by day, kind, package and country",
    "path": [],
    "query": [
      {
        "name": "from_day",
        "kind": "text",
        "description": "First day.",
        "required": true
      },
      {
        "name": "to_day",
        "kind": "text",
        "description": "Last day, included; at most 366 days in all.",
        "required": true
      },
      {
        "name": "time_zone",
        "kind": "text",
        "description": "IANA name of the time zone in which the days are."
      },
      {
        "name": "group_by",
        "kind": "texts",
        "description": "Groups the sums by `day`, `kind` of purchase, `package` (with VPN plans), `country`, or several, separated by commas. Without it there is one sum for each currency."
      }
    ]
  },
  "exportSales": {
    "summary": "Get the sums of sales as CSV",
    "path": [],
    "query": [
      {
        "name": "from_day",
        "kind": "text",
        "description": "First day.",
        "required": true
      },
      {
        "name": "to_day",
        "kind": "text",
        "description": "Last day, included; at most 366 days in all.",
        "required": true
      },
      {
        "name": "time_zone",
        "kind": "text",
        "description": "IANA name of the time zone in which the days are."
      },
      {
        "name": "group_by",
        "kind": "texts",
        "description": "Groups the sums by `day`, `kind` of purchase, `package` (with VPN plans), `country`, or several, separated by commas. Without it there is one sum for each currency."
      },
      {
        "name": "bom",
        "kind": "flag",
        "description": "`true`: the file begins with a byte order mark, so that Excel reads it as UTF-8."
      }
    ]
  },
  "listReconciliations": {
    "summary": "List comparisons of our books with the wallet, newest first",
    "path": [],
    "query": [
      {
        "name": "status",
        "kind": "texts",
        "description": "One status, or several, separated by commas. One of: complete, incomplete, unsupported, unavailable."
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "getReconciliation": {
    "summary": "Read a comparison of our books with the wallet",
    "path": [
      "id"
    ],
    "query": []
  },
  "getLatestUpdate": {
    "summary": "Check for an update of the storefront application",
    "path": [],
    "query": [
      {
        "name": "current_version",
        "kind": "text",
        "description": "Installed version of the storefront, dotted numbers.",
        "required": true
      },
      {
        "name": "channel",
        "kind": "text",
        "description": "Release channel."
      }
    ]
  },
  "listWebhookEndpoints": {
    "summary": "List webhook endpoints, newest first",
    "path": [],
    "query": [
      {
        "name": "created_by",
        "kind": "text",
        "description": "Only resources created with this API key; after rotations the id of the first key of the lineage."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "createWebhookEndpoint": {
    "summary": "Create a webhook endpoint",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "url",
        "kind": "text",
        "description": "Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.",
        "required": true
      },
      {
        "name": "event_types",
        "kind": "texts",
        "description": ""
      },
      {
        "name": "description",
        "kind": "text",
        "description": "Free text for readers."
      }
    ],
    "keyed": true
  },
  "getWebhookEndpoint": {
    "summary": "Read a webhook endpoint and its state",
    "path": [
      "id"
    ],
    "query": []
  },
  "updateWebhookEndpoint": {
    "summary": "Change the address, the filter or the description of a webhook endpoint",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "url",
        "kind": "text",
        "description": "Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery."
      },
      {
        "name": "event_types",
        "kind": "texts",
        "description": ""
      },
      {
        "name": "description",
        "kind": "text",
        "description": "Free text for readers."
      }
    ]
  },
  "deleteWebhookEndpoint": {
    "summary": "Delete a webhook endpoint",
    "path": [
      "id"
    ],
    "query": []
  },
  "rotateWebhookEndpointSecret": {
    "summary": "Give a webhook endpoint a new secret",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "overlap_seconds",
        "kind": "integer",
        "description": "How long former secrets sign in addition to the new one; default: the configured overlap. 0 after one has leaked."
      }
    ],
    "keyed": true
  },
  "listWebhookDeliveries": {
    "summary": "List the deliveries of a webhook endpoint with each try, newest first",
    "path": [
      "id"
    ],
    "query": [
      {
        "name": "status",
        "kind": "text",
        "description": "`pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: no more tries; replay it."
      },
      {
        "name": "event_id",
        "kind": "text",
        "description": "Id of an event."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  },
  "disableWebhookEndpoint": {
    "summary": "Stop sending events to a webhook endpoint",
    "path": [
      "id"
    ],
    "query": []
  },
  "enableWebhookEndpoint": {
    "summary": "Send events to a webhook endpoint again",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "replay_missed",
        "kind": "flag",
        "description": "True: also send the events missed since `missed_since`."
      }
    ]
  },
  "testWebhookEndpoint": {
    "summary": "Send a test event to a webhook endpoint",
    "path": [
      "id"
    ],
    "query": [],
    "keyed": true
  },
  "replayWebhooks": {
    "summary": "Replay events to a webhook endpoint",
    "path": [
      "id"
    ],
    "query": [],
    "body": [
      {
        "name": "event_id",
        "kind": "text",
        "description": "One event, also if the filter of the endpoint does not select it."
      },
      {
        "name": "delivery_id",
        "kind": "text",
        "description": "One delivery."
      },
      {
        "name": "since",
        "kind": "time",
        "description": "Events since this time."
      },
      {
        "name": "until",
        "kind": "time",
        "description": "With `since`: events until this time."
      },
      {
        "name": "which",
        "kind": "text",
        "description": "With `since`: `all` events that its filter selects (default), finally `failed` ones, or `missed` ones: failed ones, and events that were never sent because the endpoint was disabled or did not exist yet."
      }
    ],
    "keyed": true
  },
  "createServiceWebhookSecret": {
    "summary": "Make the service create its first webhook secret",
    "path": [],
    "query": [],
    "keyed": true
  },
  "rotateServiceWebhookSecret": {
    "summary": "Make the service replace its webhook secret",
    "path": [],
    "query": [],
    "body": [
      {
        "name": "overlap_seconds",
        "kind": "integer",
        "description": "How long former secrets remain valid; default: the configured overlap. With 0, after one has leaked, no former stored one is valid from now on; those of `SERVICE_WEBHOOK_SECRETS` are until they are removed."
      }
    ],
    "keyed": true
  },
  "listAuditLog": {
    "summary": "List the audit log, newest first",
    "path": [],
    "query": [
      {
        "name": "actor",
        "kind": "text",
        "description": "Id of an API key, `command/<account>`, or `share_link/<id>`."
      },
      {
        "name": "action",
        "kind": "text",
        "description": "This action only, such as `vpn.access_revealed`."
      },
      {
        "name": "subject_kind",
        "kind": "text",
        "description": "Such as `order`, `esim` or `api_key`."
      },
      {
        "name": "subject_id",
        "kind": "text",
        "description": ""
      },
      {
        "name": "created_after",
        "kind": "time",
        "description": "Later than this."
      },
      {
        "name": "created_before",
        "kind": "time",
        "description": "Earlier than this."
      },
      {
        "name": "limit",
        "kind": "integer",
        "description": "Maximum number of items, 1 to 100."
      },
      {
        "name": "cursor",
        "kind": "text",
        "description": "`next_cursor` of the previous page; omit it for the first page."
      }
    ]
  }
};
