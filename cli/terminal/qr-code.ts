import QRCode from 'qrcode';

/** A QR code for a terminal. @param inColour black on white, which can be scanned on any background. */
export function terminalQrCode(text: string, inColour: boolean): Promise<string> {
  const errorCorrectionLevel = 'L';
  return inColour
    ? QRCode.toString(text, { type: 'terminal', small: true, errorCorrectionLevel })
    : QRCode.toString(text, { type: 'utf8', margin: 2, errorCorrectionLevel });
}
