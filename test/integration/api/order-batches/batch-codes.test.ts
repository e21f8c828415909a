import { randomUUID } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { qrArchive, qrSheet } from '#api/order-batches/qr-files.ts';
import { deliveredEsimId } from '#crypto/derived-ids.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { activationOf, batchCalls, batchInput, deliver, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { qrOfPicture, qrOfPng } from '#test/support/qr.ts';

const { api, caller } = await apiOfFile();

const { create } = batchCalls(() => caller);

/** A batch whose first orders are delivered. */
async function delivered(quantity: number, of = quantity, reference = `codes-${randomUUID()}`) {
  const body = { ...batchInput([{ package_id: 101, quantity: of }]), external_batch_id: reference };
  const id = (await create(body)).textAt('id');
  const orders = await ordersOfBatch(api, id);
  for (const order of orders.slice(0, quantity)) await deliver(api, order.id);
  return { id, orders };
}

/** The rectangles of each page of a PDF, in points from its upper left corner. */
function pagesOf(pdf: Buffer) {
  const text = pdf.toString('latin1');
  const streams = [...text.matchAll(/\/Filter \/FlateDecode\s*>>\s*stream\n/g)].map(({ index, 0: head }) => {
    const from = index + head.length;
    return inflateSync(pdf.subarray(from, text.indexOf('\nendstream', from))).toString('latin1');
  });
  return streams
    .map((content) =>
      [...content.matchAll(/^([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re$/gm)].map(([, ...numbers]) => numbers.map(Number)),
    )
    .filter((rectangles) => rectangles.length > 0);
}

/** Draws a part of a page as a picture, four pixels to the point. */
function drawn(rectangles: readonly number[][], { left, top, side }: { left: number; top: number; side: number }) {
  const width = side * 4;
  const data = new Uint8Array(width * width * 4).fill(0xff);
  for (const [x = 0, y = 0, w = 0, h = 0] of rectangles) {
    for (let row = Math.round((y - top) * 4); row < Math.round((y + h - top) * 4); row += 1) {
      for (let column = Math.round((x - left) * 4); column < Math.round((x + w - left) * 4); column += 1) {
        if (row >= 0 && row < width && column >= 0 && column < width)
          data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
      }
    }
  }
  return { width, height: width, data };
}

describe('the QR codes of a batch', () => {
  it('come as a ZIP archive, with one readable image for each delivered eSIM, named after its order', async () => {
    const { id, orders } = await delivered(3, 4);
    const answer = await caller.get(`/v1/order-batches/${id}/qr-codes.zip`);
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const files = unzipSync(answer.bytes);
    expect(Object.keys(files)).toEqual(orders.slice(0, 3).map(({ externalOrderId }) => `${externalOrderId}.png`));
    for (const order of orders.slice(0, 3)) {
      const seen = qrOfPng(Buffer.from(files[`${order.externalOrderId}.png`]!));
      expect(seen.text).toBe(activationOf(order.id));
      expect(seen.quietZone).toBeGreaterThanOrEqual(4);
    }
  });

  it('come as sheets to print, with twelve readable codes to a page, by position', async () => {
    const { id, orders } = await delivered(14);
    const answer = await caller.get(`/v1/order-batches/${id}/qr-codes.pdf`);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    const pages = pagesOf(answer.bytes);
    expect(pages).toHaveLength(2);
    const [width, height] = [(595.28 - 72) / 3, (841.89 - 72) / 4];
    const seen = pages.flatMap((rectangles, page) =>
      orders.slice(page * 12, page * 12 + 12).map((_order, index) => {
        const left = 36 + (index % 3) * width + (width - 140) / 2;
        return qrOfPicture(drawn(rectangles, { left, top: 36 + Math.floor(index / 3) * height, side: 140 })).text;
      }),
    );
    expect(seen).toEqual(orders.map((order) => activationOf(order.id)));
  });

  it.each(['zip', 'pdf'])('as %s are audited as one read of each eSIM', async (form) => {
    const { id, orders } = await delivered(2);
    // HEAD reveals nothing.
    expect((await caller.call('HEAD', `/v1/order-batches/${id}/qr-codes.${form}`, {})).status).toBe(200);
    await caller.get(`/v1/order-batches/${id}/qr-codes.${form}`);
    for (const order of orders) {
      const esimId = deliveredEsimId(api.keyRing, order.id);
      expect(await auditOf(api, esimId)).toMatchObject([{ action: 'esim.qr_revealed', subjectKind: 'esim' }]);
    }
  });

  it('are made no further when their reader has left', async () => {
    for (const [write, most] of [
      [qrArchive, 1],
      [qrSheet, 12],
    ] as const) {
      let made = 0;
      const code = () => ({
        reference: 'r-0001',
        iccid: '89',
        get text() {
          made += 1;
          return 'LPA:1$a$b';
        },
      });
      for await (const written of write(Array.from({ length: 100 }, code))) if (written.length > 0) break;
      expect(made).toBeLessThanOrEqual(most);
    }
  });

  it.each(['zip', 'pdf'])('as %s need the scope of a single one, and a delivered eSIM', async (form) => {
    const { id } = await delivered(0, 1);
    const path = `/v1/order-batches/${id}/qr-codes.${form}`;
    const refused = await caller.get(path);
    expect(problemOf(refused)).toMatchObject({ status: 409, code: 'nothing_delivered' });
    const reader = await api.caller(['orders:read', 'esims:read']);
    expect(problemOf(await reader.get(path))).toMatchObject({ status: 403, code: 'missing_scope' });
  });

  it('have names without a path, whatever the reference of the batch contains', async () => {
    const { id } = await delivered(1, 1, `../../etc/${randomUUID()}\\:*`);
    const [name] = Object.keys(unzipSync((await caller.get(`/v1/order-batches/${id}/qr-codes.zip`)).bytes));
    expect(name).toMatch(/^_[A-Za-z0-9._-]+-0001\.png$/);
  });
});
