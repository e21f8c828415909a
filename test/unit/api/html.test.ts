import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, trustedHtml } from '#api/http/html.ts';

describe('an HTML template', () => {
  it('escapes its values, in text and in quoted attributes', () => {
    const hostile = `<script>"'&`;
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
    );
    fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(html`${text}`.text)));
  });

  it('keeps HTML as it is, joins lists, and leaves out what is undefined', () => {
    const items = [1, 2].map((each) => html`<li>${each}</li>`);
    expect(html`a${items}${undefined}b${trustedHtml('<hr>')}`.text).toBe('a<li>1</li><li>2</li>b<hr>');
  });
});
