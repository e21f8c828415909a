import QRCode from 'qrcode';

/** Margin required by the QR standard; without it cameras fail. */
export const QUIET_ZONE_MODULES = 4;
/** A typical code is then about 400 pixels wide, including the margin. */
const PNG_PIXELS_PER_MODULE = 10;

export function qrCodeSvg(text: string): Promise<string> {
  return QRCode.toString(text, { type: 'svg', margin: QUIET_ZONE_MODULES });
}

export function qrCodePng(text: string, scale: number = PNG_PIXELS_PER_MODULE): Promise<Buffer> {
  return QRCode.toBuffer(text, { type: 'png', margin: QUIET_ZONE_MODULES, scale });
}
