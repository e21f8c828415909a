import { describe, expect, it } from 'vitest';
import { filledText } from '#api/fields/fields.ts';

describe('a text with content', () => {
  const text = filledText(5);

  it('loses the space around it', () => {
    expect(text.parse('\tab ')).toBe('ab');
  });

  it('is as long as it was sent, as the description of the API says', () => {
    expect(text.safeParse('abcde').success).toBe(true);
    expect(text.safeParse(' abcde').success).toBe(false);
  });

  it.each(['', ' \t', 'a\0', '\ud800'])('is not %j', (sent) => {
    expect(text.safeParse(sent).success).toBe(false);
  });
});
