"""Receives event webhooks: verifies each, and stores it once.

Create the endpoint with `POST /v1/webhook-endpoints` and `"url": "http://127.0.0.1:5000/"`, or run
`reseller events listen --forward-to http://127.0.0.1:5000/`; both show the secret.

    RESELLER_WEBHOOK_SECRET=whsec_… python receive_webhooks.py 5000 inbox.sqlite
"""

import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from reseller_fulfilment import InvalidWebhookError, verify_webhook

SECRET = os.environ["RESELLER_WEBHOOK_SECRET"]
LARGEST_BODY = 100_000

# A table in the database of your shop. A row proves that an event was received.
inbox = sqlite3.connect(sys.argv[2] if len(sys.argv) > 2 else ":memory:")
inbox.execute("CREATE TABLE IF NOT EXISTS inbox (webhook_id TEXT PRIMARY KEY, event TEXT NOT NULL, done_at TEXT)")


class Receiver(BaseHTTPRequestHandler):
    """Answers at once; your program processes the rows later, because the API waits at most 15 s."""

    def do_POST(self) -> None:  # noqa: N802
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_BODY:
            self.answer(413)
            return
        # Verify the received bytes: JSON that was parsed and written again has another signature.
        body = self.rfile.read(length)
        try:
            event = verify_webhook(SECRET, dict(self.headers.items()), body)
        except InvalidWebhookError:
            self.answer(400)
            return
        with inbox:
            # One statement: with two, a crash between them would lose an event or process it twice.
            stored = inbox.execute(
                "INSERT INTO inbox (webhook_id, event) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self.headers["webhook-id"], body.decode()),
            )
        print("new  " if stored.rowcount == 1 else "known", event["type"], self.headers["webhook-id"], flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


server = HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 5000), Receiver)
print("listening on port", server.server_port, flush=True)
server.serve_forever()
