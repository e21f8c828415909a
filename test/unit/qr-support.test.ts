import fc from 'fast-check';
import QRCode from 'qrcode';
import { describe, expect, it } from 'vitest';
import { qrOfPng, qrOfSvg, textOfQr } from '#test/support/qr.ts';

describe('the decoder that tests read QR codes with', () => {
  it('reads back what was drawn, as PNG and as SVG, in every version and mask that it knows', async () => {
    const text = fc.oneof(
      fc.string({ minLength: 1, maxLength: 120, unit: fc.constantFrom(...'0123456789ABCDEFabcdef$-.:/'.split('')) }),
      fc.string({ minLength: 1, maxLength: 80, unit: 'grapheme' }).filter((each) => each.isWellFormed()),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.nat({ max: 7 }), async (content, mask) => {
        const maskPattern = mask as NonNullable<QRCode.QRCodeOptions['maskPattern']>;
        const png = await QRCode.toBuffer(content, { type: 'png', scale: 3, margin: 2, maskPattern });
        expect(textOfQr(qrOfPng(png).modules)).toBe(content);
        const svg = qrOfSvg(await QRCode.toString(content, { type: 'svg', margin: 4, maskPattern }));
        expect([textOfQr(svg.modules), svg.quietZone]).toEqual([content, 4]);
      }),
      { numRuns: 60 },
    );
  });

  it('takes nothing for right that has one wrong module', async () => {
    const { modules } = qrOfSvg(await QRCode.toString('LPA:1$smdp.example.com$A1B2-C3D4', { type: 'svg' }));
    const damaged = modules.map((row, index) => (index === 12 ? row.map((module, column) => (column === 12 ? !module : module)) : row));
    expect(() => textOfQr(damaged)).toThrow('the symbol is damaged');
  });
});
