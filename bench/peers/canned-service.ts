/**
 * The service as cheaply as it can be had: a login, a page of 50 packages and a completed order, each the same bytes
 * every time. It serves all contestants of a comparison of clients, so what it costs, it costs all of them.
 */
import { createServer } from 'node:http';

const port = Number(process.env['PORT']);

const LOGIN = canned({ access_token: 'canned-token', token_type: 'Bearer', expires_at: null });
const PACKAGES = canned({
  data: Array.from({ length: 50 }, (_, number) => ({
    id: 1_000 + number,
    name: `Package ${number}`,
    countries: ['ES', 'FR', 'IT'],
    data_mb: 1_024 * (1 + (number % 20)),
    validity_days: 30,
    price_for_reseller: `${1 + (number % 30)}.${10 + number}`,
    currency: 'USD',
    available: true,
  })),
  next_cursor: null,
});
const ORDER = canned({
  id: 'svc_1',
  external_order_id: 'bench-1',
  package_id: 1_001,
  status: 'completed',
  esim_id: 'esim_1',
  price_for_reseller: '3.20',
  currency: 'USD',
  failure: null,
  created_at: '2025-06-01T12:00:00.000Z',
});

createServer((request, response) => {
  const { method, url = '' } = request;
  const bytes = url.endsWith('/login') ? LOGIN : url.includes('/packages') ? PACKAGES : ORDER;
  // A body is read to its end, whatever it says.
  request.resume().once('end', () => {
    const status = method === 'POST' && bytes === ORDER ? 201 : 200;
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
  });
}).listen(port, '127.0.0.1');

function canned(body: unknown): Buffer {
  return Buffer.from(JSON.stringify(body));
}
