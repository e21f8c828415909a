/**
 * Puts messages and stack traces of failures into a payload, which the payload codec then encrypts; by default they
 * would stand in histories as plain text. Loaded by path (see `data-converter.ts`), also inside the workflow sandbox:
 * so it may import nothing that needs Node.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
